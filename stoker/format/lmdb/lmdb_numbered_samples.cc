#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/units.h"
#include "stoker/format/lmdb/lmdb_samples.h"
#include "stoker/format/member_name.h"

namespace stoker {
namespace {

constexpr std::string_view kCountKey = "num-samples";
constexpr std::size_t kColumnsMax = 16;

struct NumberedKey {
  std::string_view name, number;  // "image" and "000000001" of "image-000000001"
};

std::optional<NumberedKey> split_numbered_key(std::string_view key) {
  const std::size_t dash = key.rfind('-');
  if (dash == std::string_view::npos || dash == 0 || dash + 1 == key.size()) return std::nullopt;
  const NumberedKey split{key.substr(0, dash), key.substr(dash + 1)};
  if (split.number.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  return split;
}

bool is_image_column(std::string_view name) { return name.starts_with("image") || name.starts_with("img"); }

/// The entries of one name, which lie together in the tree, in the order of their numbers' digits.
class NumberedColumn {
 public:
  NumberedColumn(Source& source, const LmdbMeta& meta, std::string name)
      : name_(std::move(name)), is_image_(is_image_column(name_)), cursor_(source, meta) {
    cursor_.seek(as_bytes(name_ + "-0"));
    advance();
  }

  const std::string& name() const { return name_; }
  bool is_image() const { return is_image_; }
  LmdbCursor& cursor() { return cursor_; }
  /// The entry at hand; nothing after the last.
  const std::optional<LmdbEntry>& entry() const { return entry_; }
  std::string_view number() const { return number_; }

  void advance() {
    for (;;) {
      entry_.emplace();
      const bool is_there = cursor_.next(*entry_);
      const std::string_view key = is_there ? as_text(entry_->key) : std::string_view();
      if (!is_there || !key.starts_with(name_) || key.substr(name_.size()) > "-:") {  // ':' follows '9'
        entry_.reset();
        return;
      }
      const std::optional<NumberedKey> split = split_numbered_key(key);
      if (!split || split->name != name_ || entry_->flags & (kLmdbSubTree | kLmdbDuplicates)) continue;
      number_ = split->number;
      return;
    }
  }

 private:
  std::string name_;
  bool is_image_;
  LmdbCursor cursor_;
  std::optional<LmdbEntry> entry_;
  std::string number_;
};

/// Goes through all columns at once.
class NumberedSamples final : public ShardScan {
 public:
  NumberedSamples(Source& source, std::vector<std::unique_ptr<NumberedColumn>> columns, std::uint64_t count,
                  std::stop_token stop)
      : source_(source),
        stop_(std::move(stop)),
        columns_(std::move(columns)),
        count_(count),
        key_prefix_(lmdb_key_prefix(source.name())) {
    images_ = std::count_if(columns_.begin(), columns_.end(), [](const auto& column) { return column->is_image(); });
  }

  bool next(SampleRow& row) override {
    for (;;) {
      row.clear();
      row.source = &source_;
      stop_if_asked(stop_, source_.name());
      if (!find_lowest_number()) return false;
      row.key.assign(key_prefix_).append(number_);
      bool has_image = false;
      for (const auto& column : columns_) {
        if (!column->entry() || column->number() != number_) continue;
        has_image |= column->is_image();
        add_field(*column, row);
        column->advance();
      }
      if (has_image) {
        ++found_;
        return true;
      }
      ++without_image_;
    }
  }

  ShardNotes take_notes() override {
    ShardNotes notes;
    if (without_image_ > 0) {
      notes.problems.push_back(
          fmt::format("'{}': skips {} without an image", source_.name(), counted(without_image_, "number")));
    }
    if (found_ != count_) {
      notes.problems.push_back(fmt::format("'{}': has {}, and its key '{}' says {}", source_.name(),
                                           counted(found_, "sample"), kCountKey, format_count(count_)));
    }
    return notes;
  }

 private:
  bool find_lowest_number() {
    const NumberedColumn* lowest = nullptr;
    for (const auto& column : columns_) {
      if (column->entry() && (!lowest || column->number() < lowest->number())) lowest = column.get();
    }
    if (lowest) number_ = lowest->number();
    return lowest != nullptr;
  }

  void add_field(NumberedColumn& column, SampleRow& row) {
    const std::string_view extension = extension_of_value(column.cursor(), *column.entry());
    if (extension.empty()) {
      assign_lower_case(name_, column.name());
    } else if (images_ == 1 && column.is_image()) {
      name_ = extension;
    } else {
      assign_lower_case(name_, column.name());
      name_.append(".").append(extension);
    }
    std::replace(name_.begin(), name_.end(), '/', '.');
    if (row.field(name_)) {
      fail(ErrorKind::kData, "'{}': number {} has two values for the field '{}'", source_.name(), number_, name_);
    }
    row.fields.push_back(
        {.name = names_.keep(name_), .part = {}, .offset = column.entry()->offset, .length = column.entry()->length});
  }

  Source& source_;
  const std::stop_token stop_;
  std::vector<std::unique_ptr<NumberedColumn>> columns_;
  std::ptrdiff_t images_ = 0;  // columns of images
  const std::uint64_t count_;
  std::string key_prefix_, number_, name_;
  LmdbFieldNames names_;
  std::uint64_t found_ = 0, without_image_ = 0;
};

/// What the key "num-samples" says.
std::optional<std::uint64_t> find_count(LmdbCursor& cursor) {
  constexpr std::size_t kDigitsMax = 19;
  LmdbEntry entry;
  cursor.seek(as_bytes(kCountKey));
  if (!cursor.next(entry) || as_text(entry.key) != kCountKey || entry.length > kDigitsMax) return std::nullopt;
  const std::string_view text = as_text(cursor.read(entry, 0, static_cast<std::size_t>(entry.length)));
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return count;
}

/// The names before the numbers of keys; nothing where they are too many, or none of images. Where one name ends, the
/// next is looked for.
std::vector<std::string> find_columns(LmdbCursor& cursor) {
  std::vector<std::string> names;
  LmdbEntry entry;
  cursor.seek({});
  while (cursor.next(entry)) {
    const std::optional<NumberedKey> split = split_numbered_key(as_text(entry.key));
    if (!split) continue;
    const std::string name(split->name);
    const bool is_known = std::find(names.begin(), names.end(), name) != names.end();
    if (is_known || names.size() == kColumnsMax) return {};
    names.push_back(name);
    cursor.seek(as_bytes(name + "-:"));
  }
  if (std::none_of(names.begin(), names.end(), [](const std::string& name) { return is_image_column(name); }))
    return {};
  return names;
}

}  // namespace

std::unique_ptr<ShardScan> numbered_lmdb_samples(Source& source, const LmdbMeta& meta, const std::stop_token& stop) {
  if (meta.flags & (kLmdbIntegerKey | kLmdbReverseKey)) return nullptr;
  LmdbCursor cursor(source, meta);
  const std::optional<std::uint64_t> count = find_count(cursor);
  if (!count) return nullptr;
  std::vector<std::unique_ptr<NumberedColumn>> columns;
  for (std::string& name : find_columns(cursor)) {
    columns.push_back(std::make_unique<NumberedColumn>(source, meta, std::move(name)));
  }
  if (columns.empty()) return nullptr;
  return std::make_unique<NumberedSamples>(source, std::move(columns), *count, stop);
}

}  // namespace stoker
