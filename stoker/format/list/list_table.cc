#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/trimmed.h"
#include "stoker/base/units.h"
#include "stoker/format/list/list_rows.h"
#include "stoker/format/member_name.h"

namespace stoker {

const std::vector<std::string_view> kPathColumns = {"path",      "filepath",   "file_path", "file",  "filename",
                                                    "file_name", "image_path", "img_path",  "image", "img"};
const std::vector<std::string_view> kLabelColumns = {"label",       "class",    "target",  "category",
                                                     "category_id", "class_id", "label_id"};

namespace {

constexpr std::string_view kSeparators = ",\t;";

/// A cell as it lies in the list; `text` where quotation marks in it are written twice.
struct Cell {
  std::uint64_t offset = 0, length = 0;
  std::string text;
  bool is_plain = true;  // the range is the text
};

/// The cells of the record at hand; false at the end. Cells may be quoted, and then have line ends in them.
bool read_record(ListText& text, char separator, std::vector<Cell>& cells) {
  cells.clear();
  if (text.peek() == ListText::kEnd) return false;
  for (;;) {
    Cell& cell = cells.emplace_back();
    text.hold();
    const bool is_quoted = text.peek() == '"';
    if (is_quoted) {
      text.skip();
      cell.offset = text.offset();
      for (;;) {
        const int c = text.peek();
        if (c == ListText::kEnd) text.fail_here("it ends inside a quoted cell");
        if (c == '"') {
          cell.length = text.offset() - cell.offset;
          text.skip();
          if (text.peek() != '"') break;
          cell.is_plain = false;
        }
        cell.text += static_cast<char>(c);
        text.skip();
      }
      const int c = text.peek();
      const bool ends = c == separator || c == '\n' || c == '\r' || c == ListText::kEnd;
      if (!ends) text.fail_here("something follows a quoted cell");
    } else {
      cell.offset = text.offset();
      for (int c = text.peek(); c != separator && c != '\n' && c != '\r' && c != ListText::kEnd; c = text.peek()) {
        cell.text += static_cast<char>(c);
        text.skip();
      }
      cell.length = text.offset() - cell.offset;
    }
    if (text.peek() == separator) {
      text.skip();
      continue;
    }
    while (text.peek() == '\r') text.skip();
    if (text.peek() == '\n') text.skip();
    return true;
  }
}

/// Where the cell of a line ends that begins there: as in read_record(), separators within quotation marks are part of
/// it.
std::size_t end_of_cell(std::string_view line, std::size_t begin, char separator) {
  const bool may_be_quoted = begin < line.size() && line[begin] == '"';
  bool is_quoted = false;
  std::size_t at = begin;
  for (; at < line.size() && (is_quoted || line[at] != separator); ++at) {
    if (line[at] == '"' && may_be_quoted) is_quoted = !is_quoted;
  }
  return at;
}

/// The names in a line of the heading.
std::vector<std::string> names_of(std::string_view line, char separator) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = end_of_cell(line, begin, separator);
    std::string_view name = trimmed(line.substr(begin, end - begin));
    if (name.size() >= 2 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
    assign_lower_case(names.emplace_back(), name);
    begin = end + 1;
  }
  return names;
}

std::optional<std::size_t> find_column(const std::vector<std::string>& names,
                                       const std::vector<std::string_view>& wanted) {
  for (const std::string_view name : wanted) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  }
  return std::nullopt;
}

std::string_view first_line_of(std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  text = text.substr(0, text.find('\n'));
  return text.ends_with('\r') ? text.substr(0, text.size() - 1) : text;
}

/// The character between columns, of which one has a known name for paths; nothing if there is none.
std::optional<char> separator_of(std::string_view heading) {
  for (const char separator : kSeparators) {
    if (heading.find(separator) == std::string_view::npos) continue;
    if (find_column(names_of(heading, separator), kPathColumns)) return separator;
  }
  return std::nullopt;
}

/// Empty where the first line has no end.
std::string_view second_line_of(std::string_view text) {
  const std::size_t end = text.find('\n');
  return end == std::string_view::npos ? "" : first_line_of(text.substr(end + 1));
}

/// Then it stands for no shard, and what is above it is a heading.
bool names_a_picture(std::string_view line) {
  std::string extension;
  assign_lower_case(extension, trimmed(line));
  extension.erase(0, extension.rfind('.') + 1);
  return is_image_field_name(extension);
}

bool is_table_name(std::string_view name) { return name.ends_with(".csv") || name.ends_with(".tsv"); }

std::string without_separators(std::string_view name) {
  std::string text(name);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '/' || static_cast<unsigned char>(c) <= ' '; }, '_');
  return text;
}

/// What a column is called as a field: that of a file as it says; the name of another one would say that it is an image
/// or a class number.
std::string field_of(std::string_view column) {
  if (column.starts_with(kFileColumn)) return without_separators(column.substr(kFileColumn.size()));
  const std::string name = without_separators(column);
  const bool means_something = is_image_field_name(name) || name == "cls" || name == "npy";
  return means_something ? name + ".txt" : name;
}

class TableRows final : public ListRows {
 public:
  explicit TableRows(Source& list) : list_(list), text_(list) {
    text_.hold();
    while (text_.peek() != '\n' && text_.peek() != ListText::kEnd) text_.skip();
    const std::string heading(first_line_of(text_.held()));
    separator_ = separator_of(heading).value_or(kSeparators.front());
    names_ = names_of(heading, separator_);
    const std::optional<std::size_t> path = find_column(names_, kPathColumns);
    if (!path) {
      fail(ErrorKind::kData, "'{}' has no column of paths: its heading is '{}', and paths are looked for in '{}'",
           list.name(), heading.substr(0, 200), fmt::join(kPathColumns, "', '"));
    }
    path_ = *path;
    label_ = find_column(names_, kLabelColumns);
    std::set<std::string> taken;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const bool is_value = i != path_ && i != label_ && !names_[i].empty();
      is_file_.push_back(is_value && names_[i].starts_with(kFileColumn));
      fields_.push_back(is_value ? field_of(names_[i]) : "");
      if (is_file_.back() && fields_.back().empty()) {
        fail(ErrorKind::kData, "'{}': the column '{}' names no field: write as in 'file:mask.png'", list.name(),
             names_[i]);
      }
      if (is_value && !taken.insert(fields_.back()).second) {
        fail(ErrorKind::kData, "'{}' has two columns '{}'", list.name(), names_[i]);
      }
    }
    rewind();
  }

  void rewind() override {
    text_.rewind();
    read_record(text_, separator_, cells_);
  }

  bool next(ListRow& row) override {
    do {
      row.line = text_.line();
      if (!read_record(text_, separator_, cells_)) return false;
    } while (cells_.size() == 1 && cells_[0].text.empty());  // an empty line
    if (cells_.size() != names_.size()) {
      fail(ErrorKind::kData, "'{}' is damaged: line {} has {}, and the heading has {}", list_.name(), row.line,
           counted(cells_.size(), "column"), names_.size());
    }
    row.path = trimmed(cells_[path_].text);
    row.label.reset();
    if (label_) row.label = trimmed(cells_[*label_].text);
    row.values.clear();
    row.files.clear();
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (fields_[i].empty()) continue;
      if (is_file_[i]) {
        const std::string_view path = trimmed(cells_[i].text);
        if (!path.empty()) row.files.push_back({fields_[i], std::string(path)});
        continue;
      }
      ListValue& value = row.values.emplace_back(ListValue{fields_[i], cells_[i].offset, cells_[i].length});
      if (!cells_[i].is_plain) value.text = std::move(cells_[i].text);
    }
    return true;
  }

 private:
  Source& list_;
  ListText text_;
  char separator_ = ',';
  std::vector<std::string> names_, fields_;  // a column that is not a field has an empty one
  std::vector<bool> is_file_;
  std::size_t path_ = 0;
  std::optional<std::size_t> label_;
  std::vector<Cell> cells_;
};

}  // namespace

ListKind kind_of_list(Bytes head, std::string_view name) {
  constexpr std::string_view kSpace = " \t\r\n", kMark = "\xef\xbb\xbf";
  std::string_view text = as_text(head);
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  // An object, or a list of such, and not a pattern such as "{00..10}.tar".
  std::size_t brace = text.find_first_not_of(kSpace);
  if (brace != std::string_view::npos && text[brace] == '[') brace = text.find_first_not_of(kSpace, brace + 1);
  if (brace != std::string_view::npos && text[brace] == '{') {
    const std::size_t after = text.find_first_not_of(kSpace, brace + 1);
    if (after != std::string_view::npos && text[after] == '"') return ListKind::kJson;
  }
  const std::string_view heading = first_line_of(text);
  const bool is_text = std::none_of(heading.begin(), heading.end(),
                                    [](char c) { return static_cast<unsigned char>(c) < ' ' && c != '\t'; });
  if (!is_text) return ListKind::kNone;
  if (separator_of(heading)) return ListKind::kTable;
  const bool has_columns = heading.find_first_of(kSeparators) != std::string_view::npos;
  const bool is_path = find_column(names_of(heading, kSeparators.front()), kPathColumns).has_value();
  if (is_table_name(name)) return has_columns || is_path ? ListKind::kTable : ListKind::kNone;
  return is_path && names_a_picture(second_line_of(text)) ? ListKind::kTable : ListKind::kNone;
}

std::unique_ptr<ListRows> table_rows(Source& list) { return std::make_unique<TableRows>(list); }

}  // namespace stoker
