// LitData chunks, as Lightning's litdata.optimize() writes them. What their samples hold the index.json in their folder
// says alone. docs/formats.md says what becomes of which value.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "stoker/format/arrow/arrow_rows.h"
#include "stoker/format/litdata/litdata_chunk.h"
#include "stoker/format/litdata/litdata_list.h"
#include "stoker/format/litdata/litdata_values.h"
#include "stoker/format/shard_format.h"
#include "stoker/format/value_row.h"

namespace stoker {

class LitDataFormat final : public ShardFormat {
 public:
  std::string_view name() const override { return "litdata"; }
  /// "chunk-0-1.bin", "chunk-0-1.zstd.bin"; else by the first bytes of one that is not compressed as a whole.
  bool recognises(const ShardCandidate& shard) const override;
  bool is_shard_name(std::string_view name) const override;
  bool is_list_name(std::string_view name) const override;
  std::vector<Location> listed_shards(const Stores& stores, const Location& folder) const override;
  /// Throws kData: a chunk alone cannot be read.
  std::unique_ptr<ShardScan> scan(Source& shard, const std::stop_token& stop) const override;
  std::unique_ptr<ShardScan> scan_at(const Stores& stores, const Location& at, Source& shard,
                                     const std::stop_token& stop) const override;

 private:
  std::shared_ptr<const LitDataList> list_of(const Stores& stores, const Location& chunk) const;

  // The list that was read last: the chunks of a folder are opened one after another.
  mutable std::mutex mutex_;
  mutable std::string list_key_;  // of its place and version
  mutable std::shared_ptr<const LitDataList> list_;
};

/// The samples of a chunk one by one.
class LitDataSamples final : public ShardScan {
 public:
  /// The source must outlive it.
  LitDataSamples(Source& source, std::shared_ptr<const LitDataList> list, std::stop_token stop = {});

  /// Throws kData naming the file and the sample when it is damaged or truncated, or has two values for one field;
  /// kClosed when asked to stop. The row's views live as long as this object.
  bool next(SampleRow& row) override;
  ShardNotes take_notes() override;

 private:
  void open();
  bool next_of_table();
  const std::vector<RowValue>& values();
  RowValue whole(const std::vector<RowValue>& values) const;

  Source& source_;
  std::shared_ptr<const LitDataList> list_;
  std::stop_token stop_;
  std::string key_prefix_;
  std::optional<LitDataChunk> chunk_;
  std::optional<LitDataValues> values_;
  std::optional<ArrowRows> table_;  // in the place of the chunk's items
  ValueRows rows_;
};

}  // namespace stoker
