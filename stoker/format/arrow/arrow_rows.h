// The rows of a table of Arrow, told as values of samples: a struct's have the struct's name before theirs, a list's
// have numbers. Each value is a range of the table, which is not copied.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/format/arrow/arrow_batches.h"
#include "stoker/format/arrow/arrow_buffer.h"
#include "stoker/format/value_row.h"

namespace stoker {

/// Threads: one.
class ArrowRows {
 public:
  /// More values than a list that is not of numbers may have, and than a row may.
  static constexpr std::uint64_t kListValuesMax = 256, kRowValuesMax = 4096;
  /// Longer texts are no names.
  static constexpr std::uint64_t kTextBytesMax = 4096;

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
  /// The names of values that were passed over so far: lists of truth values, lists with nulls, and longer lists of
  /// what is not numbers.
  const std::set<std::string, std::less<>>& passed_over() const { return passed_over_; }

 private:
  /// What a batch has of a column.
  struct Column {
    const ArrowField* field = nullptr;
    std::uint64_t rows = 0;
    bool has_nulls = false;
    ArrowBuffer validity{}, offsets{}, data{};
    std::vector<Column> children{};
  };
  struct Span {
    std::uint64_t begin = 0, end = 0;
  };

  Column take_column(const ArrowField& field, std::size_t& node, std::size_t& buffer);
  ArrowBuffer take_buffer(std::size_t& buffer, const ArrowField& field, std::uint64_t bytes_min);
  void take_columns();
  void add(Column& column, std::string_view name, std::uint64_t row);
  void add_number(Column& column, std::string_view name, std::uint64_t row);
  void add_truth(Column& column, std::string_view name, std::uint64_t row);
  void add_bytes(Column& column, std::string_view name, std::uint64_t row);
  void add_list(Column& column, std::string_view name, std::uint64_t row);
  static Span span_of(Column& column, std::uint64_t row, std::uint64_t end_max);
  RowValue& push(std::string_view name, std::uint64_t offset, std::uint64_t length, std::string_view ending);
  std::string_view kept(std::string name);
  [[noreturn]] void fail_column(const ArrowField& field, std::string_view what) const;

  BlockPlaces& places_;
  ArrowBatches batches_;
  std::vector<Column> columns_;
  std::uint64_t first_ = 0, rows_ = 0;  // of the batch at hand
  std::uint64_t row_ = 0;               // in it
  bool is_begun_ = false;
  std::vector<RowValue> values_;
  std::deque<std::string> texts_;           // that values show
  std::optional<std::uint64_t> truths_[2];  // where a byte of each truth value is
  std::set<std::string, std::less<>> names_, passed_over_;
};

}  // namespace stoker
