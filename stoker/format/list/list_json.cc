#include <algorithm>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/json_values.h"
#include "stoker/format/list/list_rows.h"

namespace stoker {
namespace {

/// A number or a text, as text; nothing for other values.
std::optional<std::string> scalar_text(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return value.dump();
  return std::nullopt;
}

/// Of the keys in `wanted`, which earlier ones precede, those that an object has.
class KeysOfObject {
 public:
  explicit KeysOfObject(const std::vector<std::string_view>& wanted) : wanted_(wanted), found_(wanted.size()) {}

  void see(std::string_view pointer, const nlohmann::json& value) {
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      if (pointer.substr(1) == wanted_[i]) found_[i] = scalar_text(value);
    }
  }
  std::optional<std::string> first() const {
    const auto found = std::find_if(found_.begin(), found_.end(), [](const auto& value) { return value.has_value(); });
    return found == found_.end() ? std::nullopt : *found;
  }

 private:
  const std::vector<std::string_view>& wanted_;
  std::vector<std::optional<std::string>> found_;
};

struct PathAndLabel {
  std::optional<std::string> path, label;
};

/// Nothing if the text is not an object.
std::optional<PathAndLabel> read_object(std::string_view text) {
  KeysOfObject paths(kPathColumns), labels(kLabelColumns);
  bool is_object = false;
  const bool is_json = for_each_json_value(text, [&](const std::string& pointer, const nlohmann::json& value) {
    if (pointer.empty()) {
      is_object = value.is_object();
    } else if (pointer.find('/', 1) == std::string::npos) {
      paths.see(pointer, value);
      labels.see(pointer, value);
    }
  });
  if (!is_json || !is_object) return std::nullopt;
  return PathAndLabel{paths.first(), labels.first()};
}

class JsonLineRows final : public ListRows {
 public:
  explicit JsonLineRows(Source& list) : text_(list) {}

  void rewind() override { text_.rewind(); }

  bool next(ListRow& row) override {
    text_.skip_space();
    if (text_.peek() == ListText::kEnd) return false;
    text_.hold();
    row.line = text_.line();
    const std::uint64_t offset = text_.offset();
    while (text_.peek() != '\n' && text_.peek() != ListText::kEnd) text_.skip();
    std::string_view line = text_.held();
    if (line.ends_with('\r')) line.remove_suffix(1);
    std::optional<PathAndLabel> object = read_object(line);
    if (!object) text_.fail_here("it is not a JSON object");
    if (!object->path) text_.fail_here("its object has none of the keys that name a file");
    row.path = std::move(*object->path);
    row.label = std::move(object->label);
    row.values = {{"json", offset, line.size()}};
    return true;
  }

 private:
  ListText text_;
};

/// Whether the first line is an object that names a file.
bool has_json_lines(Source& list) {
  ListText text(list);
  constexpr std::size_t kFirstLineMax = 1 << 20;
  text.skip_space();
  text.hold();
  while (text.peek() != '\n' && text.peek() != ListText::kEnd && text.held().size() < kFirstLineMax) text.skip();
  const std::optional<PathAndLabel> object = read_object(text.held());
  return object && object->path;
}

}  // namespace

std::unique_ptr<ListRows> json_line_rows(Source& list) { return std::make_unique<JsonLineRows>(list); }

std::unique_ptr<ListRows> json_rows(Source& list, const std::stop_token& stop) {
  if (has_json_lines(list)) return json_line_rows(list);
  if (auto rows = coco_rows(list, stop)) return rows;
  fail(ErrorKind::kData,
       "'{}' is JSON, and not a list that Stoker reads: neither lines with an object that names a file each, nor a "
       "document with the list 'images', as COCO's",
       list.name());
}

}  // namespace stoker
