// MDS shards, as MosaicML's Streaming writes them. Each says in its own bytes what its columns are, so it can be read
// without the index.json beside it. docs/formats.md says what becomes of which column.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/format/mds/mds_header.h"
#include "stoker/format/mds/mds_rows.h"
#include "stoker/format/sequential_reader.h"
#include "stoker/format/shard_format.h"
#include "stoker/storage/block_source.h"

namespace stoker {

class MdsFormat final : public ShardFormat {
 public:
  std::string_view name() const override { return "mds"; }
  /// "x.mds", "x.mds.zstd"; else by the first bytes of one that is not compressed.
  bool recognises(const ShardCandidate& shard) const override;
  bool is_shard_name(std::string_view name) const override;
  bool is_list_name(std::string_view name) const override;
  std::vector<Location> listed_shards(const Stores& stores, const Location& folder) const override;
  std::unique_ptr<ShardScan> scan(Source& shard, const std::stop_token& stop) const override;
  const WritableFormat* writing() const override;
};

/// The samples of an MDS shard one by one.
class MdsSamples final : public ShardScan {
 public:
  /// More than a sample may take of memory.
  static constexpr std::uint64_t kSampleBytesMax = std::uint64_t{1} << 30;

  /// The source must outlive it. Throws kData naming the file if what stands in front of the samples is damaged.
  explicit MdsSamples(Source& source, std::stop_token stop = {});

  /// Replaces `row` by the next sample; false after the last. Throws kData naming the file and the sample when it is
  /// damaged or truncated, or has two values for one field; kClosed when asked to stop. The row's views live as long as
  /// this object.
  bool next(SampleRow& row) override;
  ShardNotes take_notes() override;

 private:
  void open();
  Bytes take_sample();
  std::string place() const;

  Source& source_;
  std::stop_token stop_;
  std::optional<BlockPlaces> blocks_;
  Source* bytes_ = nullptr;  // of the shard as it is without compression
  MdsPlace all_;             // of them
  MdsHeader header_;
  std::optional<SequentialReader> offsets_, samples_;
  std::optional<MdsRows> rows_;

  std::int64_t number_ = -1;  // of the sample at hand
  std::uint64_t end_ = 0;     // of it, in the shard
};

}  // namespace stoker
