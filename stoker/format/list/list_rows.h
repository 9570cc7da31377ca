// The rows of a list: what it says of one file each. A list is a table with a heading, lines of JSON, a JSON list of
// objects, or a document as COCO's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/format/list/list_text.h"

namespace stoker {

/// Something that the list says of a file besides its path and its label: a range of the list, or a text that does not
/// lie in it as it is.
struct ListValue {
  std::string name;
  std::uint64_t offset = 0, length = 0;
  std::optional<std::string> text{};
};

/// Another file of the same sample, such as the mask of its image.
struct ListFile {
  std::string field, path;
};

struct ListRow {
  std::uint64_t line = 0;
  std::string path;
  std::optional<std::string> label{};
  // In the place of one, a number of JSON that is none: what it is, for messages ("fractional label").
  std::string_view unusable_label{};
  std::vector<ListValue> values{};
  std::vector<ListFile> files{};
};

inline constexpr std::string_view kFractionalLabel = "fractional label";

/// Threads: one.
class ListRows {
 public:
  virtual ~ListRows() = default;
  /// Replaces `row` by the next one; false after the last. Throws kData naming the list and the line.
  virtual bool next(ListRow& row) = 0;
  virtual void rewind() = 0;

  /// Their names, where the list's labels are class numbers that it names; else names are taken from all labels.
  virtual std::optional<std::vector<std::string>> classes() const { return std::nullopt; }
  /// Folders, relative to the list's, in which files that are not beside it may be.
  virtual std::vector<std::string> other_folders() const { return {}; }
};

enum class ListKind { kNone, kTable, kJson };

/// By the first bytes of a file, and its name in lower case.
ListKind kind_of_list(Bytes head, std::string_view name);

/// What a column's name begins with that names further files: "file:mask.png", of the field mask.png.
inline constexpr std::string_view kFileColumn = "file:";

/// A list whose heading names its columns. The source must outlive it, here and below. Throws kData for one without a
/// column of paths.
std::unique_ptr<ListRows> table_rows(Source& list);
/// Lines with an object each.
std::unique_ptr<ListRows> json_line_rows(Source& list);
/// A list of objects.
std::unique_ptr<ListRows> json_array_rows(Source& list);
/// Null if the list is not COCO's. Reads all of it.
std::unique_ptr<ListRows> coco_rows(Source& list, const std::stop_token& stop);
/// json_line_rows(), json_array_rows() or coco_rows(). Throws kData for other JSON.
std::unique_ptr<ListRows> json_rows(Source& list, const std::stop_token& stop);

/// The columns or keys that may hold a file's path, or its label, in the order in which they are looked for.
extern const std::vector<std::string_view> kPathColumns, kLabelColumns;

}  // namespace stoker
