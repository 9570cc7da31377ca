#include "stoker/storage/block_table.h"

#include <algorithm>

#include "stoker/base/error.h"
#include "stoker/base/units.h"

namespace stoker {

std::uint64_t BlockTable::add(const CompressedBlock& block) {
  if (block.offset > object_bytes_ || block.stored_length > object_bytes_ - block.offset) {
    fail(ErrorKind::kData, "its {} at byte {} reach past the end, at {}", byte_count(block.stored_length), block.offset,
         object_bytes_);
  }
  if (block.codec == BlockCodec::kStored) {
    if (block.length != block.stored_length) {
      fail(ErrorKind::kData, "it is stored as it is, but with {} instead of {}", byte_count(block.stored_length),
           byte_count(block.length));
    }
    return block.offset;
  }
  if (std::max(block.length, block.stored_length) > kBlockBytesMax) {
    fail(ErrorKind::kData, "it has {}; the limit is {}", byte_count(std::max(block.length, block.stored_length)),
         byte_count(kBlockBytesMax));
  }
  const std::lock_guard lock(mutex_);
  const std::uint64_t place = end_ + kGapBytes;
  if (place > INT64_MAX) fail(ErrorKind::kLimit, "more blocks in one file than there are offsets for");
  blocks_.push_back(block);
  places_.push_back(place);
  end_ = place + block.length;
  return place;
}

std::optional<BlockPlace> BlockTable::find(std::uint64_t offset) const {
  std::unique_lock lock(mutex_, std::defer_lock);
  if (grows_.load(std::memory_order_acquire)) lock.lock();
  const auto next = std::upper_bound(places_.begin(), places_.end(), offset);
  if (next == places_.begin()) return std::nullopt;
  const auto number = static_cast<std::size_t>(next - places_.begin()) - 1;
  const std::uint64_t inside = offset - places_[number];
  if (inside > blocks_[number].length) return std::nullopt;
  return BlockPlace{number, blocks_[number], inside};
}

}  // namespace stoker
