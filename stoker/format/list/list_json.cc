#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/json_values.h"
#include "stoker/format/list/list_rows.h"

namespace stoker {
namespace {

/// A whole number ("2" for 2.0, too) or a text, as text; nothing for other values.
std::optional<std::string> scalar_text(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return value.dump();
  const std::optional<std::int64_t> whole = as_whole_float(value);
  return whole ? std::optional(fmt::to_string(*whole)) : std::nullopt;
}

/// Of a number that is no class number: what it is. A whole one is one that is too large.
std::string_view kind_of_label(double number) {
  return number == std::trunc(number) ? "too large (2^63 or more) label" : kFractionalLabel;
}

/// Of the keys in `wanted`, which earlier ones precede, those that an object has.
class KeysOfObject {
 public:
  KeysOfObject(const std::vector<std::string_view>& wanted, bool takes_truths)
      : wanted_(wanted), takes_truths_(takes_truths), found_(wanted.size()) {}

  void see(std::string_view pointer, const nlohmann::json& value) {
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      if (pointer.substr(1) != wanted_[i]) continue;
      found_[i] = takes_truths_ && value.is_boolean() ? fmt::to_string(int{value.get<bool>()}) : scalar_text(value);
      if (value.is_number_float() && !found_[i]) unusable_ = kind_of_label(value.get<double>());
    }
  }
  std::optional<std::string> first() const {
    const auto found = std::find_if(found_.begin(), found_.end(), [](const auto& value) { return value.has_value(); });
    return found == found_.end() ? std::nullopt : *found;
  }
  /// What one was that was a number, but not a whole one below 2^63; empty if none was.
  std::string_view unusable() const { return unusable_; }

 private:
  const std::vector<std::string_view>& wanted_;
  const bool takes_truths_;  // as 1 and 0
  std::vector<std::optional<std::string>> found_;
  std::string_view unusable_;
};

struct PathAndLabel {
  std::optional<std::string> path, label;
  std::string_view unusable_label{};
};

/// Nothing if the text is not an object.
std::optional<PathAndLabel> read_object(std::string_view text) {
  KeysOfObject paths(kPathColumns, false), labels(kLabelColumns, true);
  bool is_object = false;
  const bool is_json = for_each_json_value(text, [&](const std::string& pointer, const nlohmann::json& value) {
    if (pointer.empty()) {
      is_object = value.is_object();
    } else {
      paths.see(pointer, value);
      labels.see(pointer, value);
    }
  });
  if (!is_json || !is_object) return std::nullopt;
  PathAndLabel found{.path = paths.first(), .label = labels.first()};
  if (!found.label) found.unusable_label = labels.unusable();
  return found;
}

/// The row that the object of this text is; it lies in the list at `offset`.
void take_object(std::string_view object, std::uint64_t offset, const ListText& text, ListRow& row) {
  std::optional<PathAndLabel> found = read_object(object);
  if (!found) text.fail_here("it is not a JSON object");
  if (!found->path) text.fail_here("its object has none of the keys that name a file");
  row.path = std::move(*found->path);
  row.label = std::move(found->label);
  row.unusable_label = found->unusable_label;
  row.values = {{"json", offset, object.size()}};
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
    take_object(line, offset, text_, row);
    return true;
  }

 private:
  ListText text_;
};

class JsonArrayRows final : public ListRows {
 public:
  explicit JsonArrayRows(Source& list) : text_(list) { rewind(); }

  void rewind() override {
    text_.rewind();
    text_.skip_space();
    text_.skip();  // the bracket
    is_first_ = true;
    has_ended_ = false;
  }

  bool next(ListRow& row) override {
    if (has_ended_) return false;
    text_.skip_space();
    if (text_.peek() == ']') return end();
    if (!std::exchange(is_first_, false)) {
      if (text_.peek() != ',') text_.fail_here("a comma or the end of its list is missing");
      text_.skip();
      text_.skip_space();
    }
    text_.hold();
    row.line = text_.line();
    const std::uint64_t offset = text_.offset();
    text_.skip_json();
    take_object(text_.held(), offset, text_, row);
    return true;
  }

 private:
  bool end() {
    has_ended_ = true;
    text_.skip();
    text_.skip_space();
    if (text_.peek() != ListText::kEnd) text_.fail_here("something follows the list");
    return false;
  }

  ListText text_;
  bool is_first_ = true, has_ended_ = false;
};

struct FirstLine {
  std::optional<PathAndLabel> object{};
  bool is_all = false;  // that the list has
};

FirstLine first_line_of(Source& list) {
  ListText text(list);
  constexpr std::size_t kFirstLineMax = 1 << 20;
  text.skip_space();
  text.hold();
  while (text.peek() != '\n' && text.peek() != ListText::kEnd && text.held().size() < kFirstLineMax) text.skip();
  FirstLine first{.object = read_object(text.held())};
  text.skip_space();
  first.is_all = text.peek() == ListText::kEnd;
  return first;
}

bool is_json_array(Source& list) {
  ListText text(list);
  text.skip_space();
  return text.peek() == '[';
}

}  // namespace

std::unique_ptr<ListRows> json_line_rows(Source& list) { return std::make_unique<JsonLineRows>(list); }

std::unique_ptr<ListRows> json_array_rows(Source& list) { return std::make_unique<JsonArrayRows>(list); }

std::unique_ptr<ListRows> json_rows(Source& list, const std::stop_token& stop) {
  if (is_json_array(list)) return json_array_rows(list);
  const FirstLine first = first_line_of(list);
  if (first.object && first.object->path) return json_line_rows(list);
  if (first.object && !first.is_all) {
    fail(ErrorKind::kData,
         "'{}' has lines of JSON, which Stoker reads as a list of files, but its first line names no file; give each "
         "line a path under one of the keys '{}'",
         list.name(), fmt::join(kPathColumns, "', '"));
  }
  if (auto rows = coco_rows(list, stop)) return rows;
  fail(ErrorKind::kData,
       "'{}' is JSON, but not a list that Stoker reads: it must be lines or a list of objects that each name a file, "
       "or a document with a list 'images', like COCO's",
       list.name());
}

}  // namespace stoker
