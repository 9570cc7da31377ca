// What becomes of a row of a Parquet file: a sample's key, its label, and fields with the names that tars would give
// them. docs/formats.md has the rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/format/field_names.h"
#include "stoker/format/parquet/parquet_column.h"
#include "stoker/format/parquet/parquet_footer.h"
#include "stoker/format/sample_row.h"
#include "stoker/format/usual_image.h"
#include "stoker/storage/block_source.h"

namespace stoker {

/// A column that becomes something, and what the row at hand has in it.
struct ParquetRowColumn {
  /// Values of one list that become fields.
  static constexpr std::uint64_t kListMax = 256;
  /// What a list of numbers may have in front of the page that it ends in: that is kept in memory, and in the index.
  static constexpr std::size_t kJoinedBytesMax = std::size_t{256} << 10;

  struct Value {
    std::uint64_t offset = 0, length = 0;
    std::uint64_t number = 0;         // in its list
    std::string_view extension = {};  // that its first bytes ask for
  };

  const ParquetColumn* stored = nullptr;
  std::string name;         // in lower case, of its fields; the steps to it are joined by slashes
  std::string_view suffix;  // of numbers: what follows the name of the field, ".i64"
  bool is_label = false;

  std::vector<Value> values;            // numbers of a list are one: what lies in the page where the list ends
  std::vector<std::uint8_t> numbers;    // of a list: the bytes of those in pages that have ended
  std::uint64_t numbers_bytes = 0;      // of all its numbers
  std::uint64_t count = 0;              // of the elements of its list
  bool is_broken = false;               // it has values that cannot be located
  Bytes bytes;                          // of its only value, if it is no list
  std::optional<std::int64_t> integer;  // the same

  bool is_list() const { return stored->repetition_max > 0; }
  bool is_number() const { return !suffix.empty(); }
  /// Whether it has one byte string in the row at hand.
  bool has_bytes() const { return !is_number() && !is_list() && !values.empty(); }
  /// For the next row.
  void clear();
  /// Adds a value, the last that `count` counts, which lies there.
  void add(std::uint64_t offset, Bytes value);
  /// Adds what a page has of a list of numbers.
  void add(const ParquetNumbers& found);
  /// Whether so much of a list may be kept in `numbers`.
  bool may_join() const { return !is_broken && numbers_bytes <= kJoinedBytesMax; }
  /// After the last value of the row: gives a list that reaches over the end of a page one place.
  void join(BlockPlaces& places);
};

/// Findings besides rows.
struct ParquetRowNotes {
  std::vector<std::string> classes{};   // by label
  std::vector<std::string> problems{};  // sentences about what did not become a part of a sample
};

/// Threads: one.
class ParquetRows {
 public:
  /// Of a file's footer, which must outlive it, and its name.
  ParquetRows(const ParquetFooter& footer, std::string_view file);

  std::vector<ParquetRowColumn>& columns() { return columns_; }
  /// Fills `row`, which is clear, except for its source, with what the columns hold, as the row of that number in the
  /// file. Throws kData naming the file for two values of one field, and as FieldNames does. The row's views live as
  /// long as this object.
  void fill(std::uint64_t number, SampleRow& row);
  ParquetRowNotes take_notes();

 private:
  void choose_columns();
  void choose_label();
  void set_key(SampleRow& row) const;
  void set_label(SampleRow& row);
  void choose_image();
  void add_fields(SampleRow& row);
  void add_field(SampleRow& row, const ParquetRowColumn& column, const ParquetRowColumn::Value& value);
  /// The first column of these names that `fits`; null without one.
  template <typename Fits>
  const ParquetRowColumn* find(const std::vector<std::string_view>& names, const Fits& fits) const;

  const ParquetFooter& footer_;
  const std::string file_, key_prefix_;
  std::vector<ParquetRowColumn> columns_;
  std::uint64_t row_ = 0;  // at hand
  UsualImage usual_image_;
  UsualImage::Choice image_;                     // of the row at hand, by column
  std::vector<UsualImage::Value> image_values_;  // scratch
  FieldNames names_;
  std::string name_;  // scratch
  ParquetRowNotes notes_;
  std::int64_t passed_over_ = 0;  // values
  std::string first_passed_over_;
  std::int64_t large_labels_ = 0;  // that no label can be
  std::uint64_t first_large_label_ = 0;
};

}  // namespace stoker
