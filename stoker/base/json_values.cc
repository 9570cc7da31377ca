#include "stoker/base/json_values.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace stoker {
namespace {

using Values = nlohmann::json;

/// What nlohmann calls as it reads. True: go on.
class Walker final : public nlohmann::json_sax<Values> {
 public:
  explicit Walker(const std::function<void(const std::string&, Values)>& see) : see_(see) {}

  bool null() override { return value(nullptr); }
  bool boolean(bool truth) override { return value(truth); }
  bool number_integer(std::int64_t number) override { return value(number); }
  bool number_unsigned(std::uint64_t number) override { return value(number); }
  bool number_float(double number, const std::string&) override { return value(number); }
  bool string(std::string& text) override { return value(std::move(text)); }
  bool binary(Values::binary_t&) override { return false; }

  bool start_object(std::size_t) override { return open(Values::object(), false); }
  bool start_array(std::size_t) override { return open(Values::array(), true); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    pointer_.resize(levels_.back().pointer_bytes);
    pointer_ += json_pointer_to(name);
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  struct Level {
    std::size_t pointer_bytes;
    bool is_list;
    std::size_t next;  // of a list
  };

  bool value(Values found) {
    if (!levels_.empty() && levels_.back().is_list) {
      pointer_.resize(levels_.back().pointer_bytes);
      pointer_ += '/';
      pointer_ += std::to_string(levels_.back().next++);
    }
    see_(pointer_, std::move(found));
    return true;
  }
  bool open(Values empty, bool is_list) {
    value(std::move(empty));
    levels_.push_back({pointer_.size(), is_list, 0});
    return true;
  }
  bool close() {
    levels_.pop_back();
    return true;
  }

  const std::function<void(const std::string&, Values)>& see_;
  std::string pointer_;        // to the value that comes, or came last
  std::vector<Level> levels_;  // the lists and objects that it is in
};

}  // namespace

bool for_each_json_value(std::string_view json, const std::function<void(const std::string&, Values)>& see) {
  Walker walker(see);
  return Values::sax_parse(json, &walker);
}

bool is_json_too_deep(std::string_view json) {
  int depth = 0;
  bool in_text = false;
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (c == '"') in_text = !in_text;
    if (c == '\\') ++at;  // what it escapes may be a quotation mark
    if (in_text) continue;
    if (c == ']' || c == '}') --depth;
    if ((c == '[' || c == '{') && ++depth > kJsonDepthMax) return true;
  }
  return false;
}

Values parse_data_json(std::string_view json) {
  if (is_json_too_deep(json)) return Values(Values::value_t::discarded);
  return Values::parse(json, nullptr, false);
}

std::string json_pointer_to(std::string_view key) {
  std::string pointer = "/";
  for (const char c : key) {
    if (c == '~' || c == '/') {
      pointer += c == '~' ? "~0" : "~1";
    } else {
      pointer += c;
    }
  }
  return pointer;
}

}  // namespace stoker
