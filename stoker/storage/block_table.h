// Compressed blocks of an object, each with a place at offsets beyond the object's end, where its decompressed bytes
// appear to lie: so rows, read plans and indexes give a value in a block an offset and a length, as any other.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "stoker/storage/block_codec.h"

namespace stoker {

/// A place that a read asks for.
struct BlockPlace {
  std::size_t number = 0;  // of the block in its table
  CompressedBlock block;
  std::uint64_t offset = 0;  // in what it becomes
};

/// Places follow from the size of the object and the lengths of the blocks alone. Threads: any.
class BlockTable {
 public:
  /// So far from each other, and from the end of the object, that no read joins two of them.
  static constexpr std::uint64_t kGapBytes = std::uint64_t{1} << 32;

  explicit BlockTable(std::uint64_t object_bytes) : object_bytes_(object_bytes), end_(object_bytes) {}

  /// Where the block's bytes appear to lie; those of a stored block where they are. Throws kData, as a reason ("its
  /// length of ... exceeds ..."), for a block that does not lie in the object or exceeds kBlockBytesMax.
  std::uint64_t add(const CompressedBlock& block);
  /// No more are added: from now on it is read without a lock.
  void close() { grows_.store(false, std::memory_order_release); }

  /// The block whose bytes are there, from its first to right after its last. Nothing in front of kGapBytes beyond the
  /// object's end, which is the object's own, and nothing between two blocks.
  std::optional<BlockPlace> find(std::uint64_t offset) const;
  /// Whether the offset is one that find() may know, rather than the object's own.
  bool is_beyond(std::uint64_t offset) const { return offset >= object_bytes_ && offset - object_bytes_ >= kGapBytes; }

  // Once it is closed:
  bool empty() const { return blocks_.empty(); }
  std::size_t size() const { return blocks_.size(); }
  const CompressedBlock& operator[](std::size_t number) const { return blocks_[number]; }
  /// Right after the last place.
  std::uint64_t end() const { return end_; }

 private:
  const std::uint64_t object_bytes_;
  std::uint64_t end_;
  std::vector<CompressedBlock> blocks_;
  std::vector<std::uint64_t> places_;
  std::atomic<bool> grows_ = true;
  mutable std::mutex mutex_;  // while it grows
};

}  // namespace stoker
