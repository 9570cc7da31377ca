// Parquet files, as Hugging Face's `datasets` and other tools write them: each row is a sample. Values are located
// where they lie: in the file, or in its compressed pages. docs/formats.md says what becomes of which column.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/format/parquet/parquet_column.h"
#include "stoker/format/parquet/parquet_footer.h"
#include "stoker/format/shard_format.h"
#include "stoker/storage/block_source.h"

namespace stoker {

class ParquetFormat final : public ShardFormat {
 public:
  std::string_view name() const override { return "parquet"; }
  /// By its first bytes, or its name.
  bool recognises(const ShardCandidate& shard) const override;
  bool is_shard_name(std::string_view name) const override { return name.ends_with(".parquet"); }
  std::unique_ptr<ShardScan> scan(Source& shard, const std::stop_token& stop) const override;
};

/// The samples of a Parquet file one by one.
class ParquetSamples final : public ShardScan {
 public:
  /// Values of one list that become fields.
  static constexpr std::uint64_t kListMax = 256;
  /// What the pages at hand, of all columns, may take of memory.
  static constexpr std::uint64_t kPagesBytesMax = std::uint64_t{3} << 30;

  /// Reads the footer. The source must outlive it. Throws as next() does.
  explicit ParquetSamples(Source& source, std::stop_token stop = {}, std::uint64_t pages_bytes_max = kPagesBytesMax);

  /// Replaces `row` by the next sample; false after the last. Throws kData naming the file, and the column and the page
  /// if it is one's fault, when it is damaged or truncated, or written in a way that Stoker does not read; kLimit for
  /// pages that need too much memory together; kClosed when asked to stop. The row's views live as long as this object.
  bool next(SampleRow& row) override;
  ShardNotes take_notes() override;

 private:
  /// A column that is read, and what the row at hand has in it.
  struct Column {
    struct Value {
      std::uint64_t offset = 0, length = 0;
      std::uint64_t number = 0;         // in its list
      std::string_view extension = {};  // that its first bytes ask for
    };

    const ParquetColumn* stored = nullptr;
    std::string name;         // in lower case, of its fields; the steps to it are joined by slashes
    std::string_view suffix;  // of numbers: what follows the name of the field, ".i64"
    bool is_label = false;
    std::unique_ptr<ParquetColumnReader> reader;  // of the row group at hand

    std::vector<Value> values;            // numbers of a list are one
    std::uint64_t count = 0;              // of the elements of its list
    bool is_broken = false;               // it has values that cannot be located
    Bytes bytes;                          // of its only value, if it is no list
    std::optional<std::int64_t> integer;  // the same

    bool is_list() const { return stored->repetition_max > 0; }
    bool is_number() const { return !suffix.empty(); }
    /// Whether it has one byte string in the row at hand.
    bool has_bytes() const { return !is_number() && !is_list() && !values.empty(); }
  };

  void choose_columns();
  void choose_label();
  void begin_group();
  void end_group();
  void read_row(Column& column);
  void read_entry(Column& column);
  void keep_value(Column& column, const ParquetValue& value);
  void set_key(SampleRow& row) const;
  void set_label(SampleRow& row) const;
  const Column* image() const;
  void add_fields(SampleRow& row);
  void add_field(SampleRow& row, const Column& column, const Column::Value& value, bool is_image);
  /// The first column of these names that `fits`; null without one.
  template <typename Fits>
  const Column* find(const std::vector<std::string_view>& names, const Fits& fits) const;

  Source& source_;
  std::stop_token stop_;
  std::string key_prefix_;
  ParquetFooter footer_;
  BlockPlaces places_;
  ParquetScan scan_;
  std::vector<Column> columns_;               // that are read
  std::size_t group_ = 0;                     // at hand, if a row of it is left; else the next
  std::uint64_t rows_left_ = 0;               // of it
  std::uint64_t row_ = 0;                     // the next, in the file
  std::set<std::string, std::less<>> names_;  // of fields: rows have views of them
  std::string name_;                          // scratch
  ShardNotes notes_;
  std::int64_t passed_over_ = 0;  // values
  std::string first_passed_over_;
};

}  // namespace stoker
