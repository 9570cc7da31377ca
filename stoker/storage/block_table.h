// Values of an object that do not lie in it as one range: those in compressed blocks, those that a block packs, and
// rows of arrays, each of which needs the header that the array has once. All have places at offsets beyond the
// object's end, where their bytes appear to lie: so rows, read plans and indexes give such a value an offset and a
// length, as any other.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "stoker/storage/block_codec.h"
#include "stoker/storage/packed_values.h"

namespace stoker {

/// Ranges of one length, one after another, each with the same bytes before it. One of length 0 is these bytes alone;
/// there are rows of at least a byte.
struct HeadedRows {
  std::vector<std::uint8_t> head{};
  std::uint64_t offset = 0;  // of the first range: in the object, or a place in a compressed block
  std::uint64_t length = 0;  // of each
  std::uint64_t count = 1;

  std::uint64_t row_bytes() const { return head.size() + length; }
  bool operator==(const HeadedRows&) const = default;
};

/// What a read asks for: a part of a compressed block, of the values that one packs, or of rows, which follow each
/// other without a gap.
struct BlockPlace {
  std::size_t number = 0;                // in the table
  CompressedBlock block{};               // itself, or that of packed values
  const PackedValues* packed = nullptr;  // null for others
  CompressedBlock dictionary{};          // of packed values that have one
  const HeadedRows* rows = nullptr;      // null for others
  std::uint64_t offset = 0;              // in what it becomes
  std::uint64_t length = 0;              // of all that

  bool has_dictionary() const { return packed && packed->has_dictionary(); }
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
  /// The same also for a block that is stored as it is, as its dictionary may be for packed values: its number.
  std::size_t add_numbered(const CompressedBlock& block);
  /// Where the first of the values appears to lie; the others follow it at once. Throws kData as for a block, and for
  /// values that cannot be as they say; of what the block holds that is not known.
  std::uint64_t add(const PackedValues& packed);
  /// Where the first of the rows appears to begin; the others follow it at once. Throws kData for rows that do not lie
  /// in the object, or in one of the blocks that were added, and for rows of no bytes.
  std::uint64_t add(HeadedRows rows);
  /// No more are added: from now on it is read without a lock.
  void close() { grows_.store(false, std::memory_order_release); }

  /// The block or rows whose bytes are there, from the first to right after the last. Nothing in front of kGapBytes
  /// beyond the object's end, which is the object's own, and nothing between two blocks.
  std::optional<BlockPlace> find(std::uint64_t offset) const;
  /// Whether the offset is one that find() may know, rather than the object's own.
  bool is_beyond(std::uint64_t offset) const { return offset >= object_bytes_ && offset - object_bytes_ >= kGapBytes; }

  // Once it is closed:
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  BlockPlace operator[](std::size_t number) const;
  /// Right after the last place.
  std::uint64_t end() const { return end_; }

 private:
  enum class Kind : std::uint8_t { kBlock, kPacked, kRows };
  struct Entry {
    std::uint64_t place;
    Kind kind;
    std::size_t index;  // among those of its kind
  };

  void check(const CompressedBlock& block) const;
  std::uint64_t add(Kind kind, std::size_t index, std::uint64_t length);
  std::optional<BlockPlace> find_locked(std::uint64_t offset) const;

  const std::uint64_t object_bytes_;
  std::uint64_t end_;
  std::vector<Entry> entries_;  // in the order of their places
  std::vector<CompressedBlock> blocks_;
  // They stay where they are while others are added.
  std::deque<PackedValues> packed_;
  std::deque<HeadedRows> rows_;
  std::atomic<bool> grows_ = true;
  mutable std::mutex mutex_;  // while it grows
};

}  // namespace stoker
