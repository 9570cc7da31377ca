#include "stoker/storage/block_table.h"

#include <algorithm>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/units.h"

namespace stoker {

void BlockTable::check(const CompressedBlock& block) const {
  if (block.offset > object_bytes_ || block.stored_length > object_bytes_ - block.offset) {
    fail(ErrorKind::kData, "its {} at byte {} reach past the end, at {}", byte_count(block.stored_length), block.offset,
         object_bytes_);
  }
  if (block.codec == BlockCodec::kStored) {
    if (block.length != block.stored_length) {
      fail(ErrorKind::kData, "it is stored as it is, but with {} instead of {}", byte_count(block.stored_length),
           byte_count(block.length));
    }
    return;
  }
  if (std::max(block.length, block.stored_length) > kBlockBytesMax) {
    fail(ErrorKind::kData, "it has {}; the limit is {}", byte_count(std::max(block.length, block.stored_length)),
         byte_count(kBlockBytesMax));
  }
}

std::uint64_t BlockTable::add(const CompressedBlock& block) {
  if (block.codec == BlockCodec::kStored) {
    check(block);
    return block.offset;
  }
  const std::size_t number = add_numbered(block);
  const std::lock_guard lock(mutex_);
  return entries_[number].place;
}

std::size_t BlockTable::add_numbered(const CompressedBlock& block) {
  check(block);
  const std::lock_guard lock(mutex_);
  add(Kind::kBlock, blocks_.size(), block.length);
  blocks_.push_back(block);
  return entries_.size() - 1;
}

std::uint64_t BlockTable::add(const PackedValues& packed) {
  check(packed.block);
  const bool has_width =
      packed.coding == PackedValues::Coding::kDeltas ? packed.width == 4 || packed.width == 8 : packed.width > 0;
  if (!has_width || packed.skipped > packed.block.length) {
    fail(ErrorKind::kData, "its values of {} bytes, which begin at byte {} of {}, are none that can be", packed.width,
         packed.skipped, packed.block.length);
  }
  if (packed.count > kBlockBytesMax / packed.width) {
    fail(ErrorKind::kData, "it has {} values of {} bytes; the limit is {}", packed.count, packed.width,
         byte_count(kBlockBytesMax));
  }
  const std::lock_guard lock(mutex_);
  if (packed.has_dictionary() &&
      (packed.dictionary >= entries_.size() || entries_[packed.dictionary].kind != Kind::kBlock)) {
    fail(ErrorKind::kData, "its dictionary is not among the blocks");
  }
  const std::uint64_t place = add(Kind::kPacked, packed_.size(), packed.count * packed.width);
  packed_.push_back(packed);
  return place;
}

std::uint64_t BlockTable::add(HeadedRows rows) {
  const std::lock_guard lock(mutex_);
  std::uint64_t there = rows.offset <= object_bytes_ ? object_bytes_ - rows.offset : 0;
  if (is_beyond(rows.offset)) {
    const std::optional<BlockPlace> block = find_locked(rows.offset);
    if (block && !block->rows) there = block->length - block->offset;
  } else if (rows.offset > object_bytes_) {
    fail(ErrorKind::kData, "its rows would begin at byte {}, after the end at {}", rows.offset, object_bytes_);
  }
  if (rows.length > 0 && rows.count > there / rows.length) {
    fail(ErrorKind::kData, "its {} rows of {} do not fit into the {} that are there", rows.count,
         byte_count(rows.length), byte_count(there));
  }
  if (rows.length > INT64_MAX - rows.head.size() || rows.row_bytes() == 0) {
    fail(ErrorKind::kData, "its rows have no bytes, or more than there are offsets for");
  }
  if (rows.count > INT64_MAX / rows.row_bytes()) {
    fail(ErrorKind::kLimit, "more rows in one file than there are offsets for");
  }
  const std::uint64_t place = add(Kind::kRows, rows_.size(), rows.count * rows.row_bytes());
  rows_.push_back(std::move(rows));
  return place;
}

std::uint64_t BlockTable::add(Kind kind, std::size_t index, std::uint64_t length) {
  const std::uint64_t place = end_ + kGapBytes;
  if (place > INT64_MAX - length) fail(ErrorKind::kLimit, "more blocks in one file than there are offsets for");
  entries_.push_back({place, kind, index});
  end_ = place + length;
  return place;
}

BlockPlace BlockTable::operator[](std::size_t number) const {
  const Entry& entry = entries_[number];
  BlockPlace place{.number = number};
  switch (entry.kind) {
    case Kind::kBlock:
      place.block = blocks_[entry.index];
      place.length = place.block.length;
      break;
    case Kind::kPacked:
      place.packed = &packed_[entry.index];
      place.block = place.packed->block;
      if (place.packed->has_dictionary()) place.dictionary = blocks_[entries_[place.packed->dictionary].index];
      place.length = place.packed->count * place.packed->width;
      break;
    case Kind::kRows:
      place.rows = &rows_[entry.index];
      place.length = place.rows->count * place.rows->row_bytes();
      break;
  }
  return place;
}

std::optional<BlockPlace> BlockTable::find(std::uint64_t offset) const {
  std::unique_lock lock(mutex_, std::defer_lock);
  if (grows_.load(std::memory_order_acquire)) lock.lock();
  return find_locked(offset);
}

std::optional<BlockPlace> BlockTable::find_locked(std::uint64_t offset) const {
  const auto next = std::upper_bound(entries_.begin(), entries_.end(), offset,
                                     [](std::uint64_t at, const Entry& entry) { return at < entry.place; });
  if (next == entries_.begin()) return std::nullopt;
  BlockPlace place = (*this)[static_cast<std::size_t>(next - entries_.begin()) - 1];
  place.offset = offset - (next - 1)->place;
  if (place.offset > place.length) return std::nullopt;
  return place;
}

}  // namespace stoker
