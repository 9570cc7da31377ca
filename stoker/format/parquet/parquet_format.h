// Parquet files, as Hugging Face's `datasets` and other tools write them: each row is a sample. Values are located
// where they lie: in the file, or in its compressed pages. docs/formats.md says what becomes of which column.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "stoker/format/parquet/parquet_column.h"
#include "stoker/format/parquet/parquet_footer.h"
#include "stoker/format/parquet/parquet_rows.h"
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
  const WritableFormat* writing() const override;
};

/// The samples of a Parquet file one by one.
class ParquetSamples final : public ShardScan {
 public:
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
  void begin_group();
  void end_group();
  void read_row(ParquetRowColumn& column, ParquetColumnReader& reader);
  static void read_numbers(ParquetRowColumn& column, ParquetColumnReader& reader);
  static void read_entry(ParquetRowColumn& column, ParquetColumnReader& reader);
  static void keep_value(ParquetRowColumn& column, ParquetColumnReader& reader, const ParquetValue& value);

  Source& source_;
  std::stop_token stop_;
  ParquetFooter footer_;
  ParquetRows rows_;
  // By column of `rows_`: of the row group at hand.
  std::vector<std::unique_ptr<ParquetColumnReader>> readers_;
  BlockPlaces places_;
  ParquetScan scan_;
  std::size_t group_ = 0;        // at hand, if a row of it is left; else the next
  std::uint64_t rows_left_ = 0;  // of it
  std::uint64_t row_ = 0;        // the next, in the file
};

}  // namespace stoker
