// An object with compressed blocks, packed values and rows of arrays: at the places that a table gives them, beyond the
// object's end, lie the bytes that they become. docs/decisions/0023 says why.
#pragma once

#include <memory>
#include <string>

#include "stoker/storage/block_cache.h"
#include "stoker/storage/block_table.h"
#include "stoker/storage/kept_reads.h"
#include "stoker/storage/source.h"

namespace stoker {

/// Threads: any. Its size is that of the object alone. A read is of the object's bytes, of one block's, of values that
/// one packs, or of rows that follow each other.
class BlockSource final : public Source {
 public:
  /// The table may still grow.
  BlockSource(std::shared_ptr<Source> object, std::shared_ptr<const BlockTable> blocks,
              std::shared_ptr<BlockCache> cache);
  ~BlockSource() override;

  const std::string& name() const override { return object_->name(); }
  std::string name_of(std::string_view part) const override { return object_->name_of(part); }
  std::uint64_t size(std::string_view part = {}) const override { return object_->size(part); }
  // No identity: what caches of objects keep by offset is of objects alone, and over() puts them in front of this
  // one's.
  std::unique_ptr<Source> over(const std::function<Source&(Source& object)>& replace) const override;
  std::unique_ptr<Folder> list(std::string_view part) const override { return object_->list(part); }
  void start(ReadRequest& request) override;
  /// Of a block: that it will be read.
  void will_need(std::uint64_t offset, std::uint64_t length, std::string_view part = {}) override;
  std::uint64_t alignment() const override { return object_->alignment(); }
  std::uint64_t gap_worth_reading() const override { return object_->gap_worth_reading(); }
  std::uint64_t gap_in_turn() const override { return object_->gap_in_turn(); }
  bool has_cheap_parts(std::uint64_t offset) const override;
  bool is_remote() const override { return object_->is_remote(); }
  std::string_view io_name() const override { return object_->io_name(); }

 private:
  struct RowsRead;

  void read_rows(const BlockPlace& place, ReadRequest& request);
  static void rows_ended(ReadRequest& inner) noexcept;

  std::shared_ptr<Source> object_;
  std::shared_ptr<const BlockTable> blocks_;
  std::shared_ptr<BlockCache> cache_;
  std::uint64_t number_;  // of the object in the cache
  KeptReads<RowsRead> reads_;
};

/// Gives blocks their places while a shard is scanned: then rows have offsets from add(), and source() as their source.
class BlockPlaces {
 public:
  // What a scan keeps of blocks that it gave out: readers of its rows follow closely.
  static constexpr std::uint64_t kScannedBytesMax = std::uint64_t{64} << 20;

  /// The object must outlive it.
  explicit BlockPlaces(Source& object, std::uint64_t kept_bytes_max = kScannedBytesMax);

  /// The offset at which the block's bytes appear to lie. Throws kData naming the object and the block's offset if the
  /// block does not lie in it, or is longer than kBlockBytesMax.
  std::uint64_t add(const CompressedBlock& block);
  /// Of packed values: throw as add() of a block does.
  std::size_t add_numbered(const CompressedBlock& block);
  std::uint64_t add(const PackedValues& packed);
  const std::string& name() const { return source_.name(); }  // of the object
  /// The offset at which the first of the rows appears to begin. Throws kData as add() of a block does.
  std::uint64_t add(HeadedRows rows);
  /// Bytes, at least one, that are kept in memory: the offset at which they appear to lie.
  std::uint64_t add_copy(Bytes bytes) { return add(HeadedRows{.head = {bytes.begin(), bytes.end()}}); }
  /// Reads the object, and the blocks that were added so far. Threads: any.
  Source& source() { return source_; }
  /// For ShardNotes::blocks, after the scan: null if there are none.
  std::shared_ptr<const BlockTable> take();

 private:
  template <typename Add>
  auto add_named(std::uint64_t offset, const Add& add);

  std::shared_ptr<BlockTable> blocks_;
  BlockSource source_;
};

}  // namespace stoker
