// The rows of a table of Arrow, told as values of samples: a struct's have the struct's name before theirs, a list's
// have numbers. Each value is a range of the table, which is not copied.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/format/arrow/arrow_batches.h"
#include "stoker/format/arrow/arrow_buffer.h"
#include "stoker/format/field_names.h"
#include "stoker/format/value_row.h"

namespace stoker {

/// Whether it is a file as `datasets` has them: a struct whose name is that of its bytes.
bool is_file(const ArrowField& field);

/// Threads: one.
class ArrowRows {
 public:
  /// More values than a list that is not of numbers may have, and than a row may.
  static constexpr std::uint64_t kListValuesMax = 256, kRowValuesMax = 4096;
  /// How many rows of a table whose batches are compressed may be more than its bytes account for: equal ones take next
  /// to none.
  static constexpr std::uint64_t kEqualRowsMax = std::uint64_t{1} << 22;
  /// Longer texts are no names.
  static constexpr std::uint64_t kTextBytesMax = kNameBytesMax;

  /// As ArrowBatches. It and next() throw the same.
  ArrowRows(BlockPlaces& places, std::uint64_t begin, std::uint64_t end)
      : places_(places), batches_(places, begin, end) {}

  /// Goes on to the next row; false after the last.
  bool next();
  /// Of the row at hand.
  std::uint64_t number() const { return first_ + row_; }
  /// Its values, except those that are null; they show what lives until the next call of next(), and names that live as
  /// long as this object.
  const std::vector<RowValue>& values() const { return values_; }
  /// What the table says of itself.
  const ArrowBatches& table() const { return batches_; }
  /// The names of values that were passed over so far: decimals and intervals, lists of truth values, lists with nulls,
  /// and longer lists of what is not numbers.
  const std::set<std::string, std::less<>>& passed_over() const { return passed_over_; }
  /// How many files so far were told by their path alone, as `datasets` does until it saves them.
  std::uint64_t files_elsewhere() const { return files_elsewhere_; }

 private:
  /// What a batch has of a column.
  struct Column {
    const ArrowField* field = nullptr;
    std::uint64_t rows = 0;
    bool has_nulls = false;
    ArrowBuffer validity{};
    ArrowBuffer offsets{};  // or views
    ArrowBuffer data{};     // or numbers of values in the dictionary
    std::vector<ArrowBuffer> viewed{};
    std::vector<Column> children{};
  };
  /// What was taken of a batch.
  struct Taken {
    std::size_t nodes = 0, buffers = 0, view_buffers = 0;
  };
  struct Span {
    std::uint64_t begin = 0, end = 0;
  };
  /// Bytes of a row.
  struct Found {
    ArrowBuffer* in;
    std::uint64_t begin, length;
  };

  Column take_column(const ArrowField& field, Taken& taken);
  Column take_values(const ArrowField& field, Taken& taken);
  Column begin_column(const ArrowField& field, Taken& taken);
  ArrowBuffer take_buffer(Taken& taken, const ArrowField& field, std::uint64_t bytes_min);
  void take_views(Column& column, Taken& taken);
  void take_dictionary();
  void take_columns();
  void check_rows();
  void add(Column& column, std::string_view name, std::uint64_t row);
  void add_value(Column& column, std::string_view name, std::uint64_t row);
  void add_from_dictionary(Column& column, std::string_view name, std::uint64_t row);
  void add_struct(Column& column, std::string_view name, std::uint64_t row);
  void add_number(Column& column, std::string_view name, std::uint64_t row);
  void add_truth(Column& column, std::string_view name, std::uint64_t row);
  void add_bytes(Column& column, std::string_view name, std::uint64_t row);
  void add_list(Column& column, std::string_view name, std::uint64_t row);
  static Span span_of(Column& column, std::uint64_t row, std::uint64_t end_max);
  static std::optional<Found> find_bytes(Column& column, std::uint64_t row);
  RowValue& push(std::string_view name, std::uint64_t offset, std::uint64_t length, std::string_view ending);
  std::string_view kept(std::string_view name);
  [[noreturn]] void fail_column(const ArrowField& field, std::string_view what) const;

  BlockPlaces& places_;
  ArrowBatches batches_;
  std::vector<Column> columns_;
  std::map<std::int64_t, Column> dictionaries_;
  std::uint64_t first_ = 0, rows_ = 0;  // of the batch at hand
  std::uint64_t row_ = 0;               // in it
  std::uint64_t equal_rows_ = 0;        // of all batches so far
  bool is_begun_ = false;
  std::vector<RowValue> values_;
  std::deque<std::string> texts_;           // that values show
  std::optional<std::uint64_t> truths_[2];  // where a byte of each truth value is
  FieldNames names_;
  std::set<std::string, std::less<>> passed_over_;
  std::uint64_t files_elsewhere_ = 0;
};

}  // namespace stoker
