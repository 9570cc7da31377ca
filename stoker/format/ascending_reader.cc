#include "stoker/format/ascending_reader.h"

#include <algorithm>
#include <cassert>

namespace stoker {
namespace {

constexpr std::size_t kAscendingBlockMin = 4 << 10, kAscendingBlockMax = 1 << 20;

}  // namespace

AscendingReader::AscendingReader(Source& source)
    : source_(source),
      size_(source.size()),
      gap_(source.gap_in_turn()),
      // Far away a request costs as much as that many bytes.
      block_least_(source.is_remote() ? static_cast<std::size_t>(
                                            std::clamp<std::uint64_t>(gap_, kAscendingBlockMin, kAscendingBlockMax))
                                      : kAscendingBlockMin),
      block_bytes_(block_least_) {}

Bytes AscendingReader::read(std::uint64_t offset, std::size_t count) {
  assert(offset <= size_ && count <= size_ - offset);
  const std::uint64_t end = begin_ + held_.size();
  if (offset < begin_ || offset + count > end) {
    const bool goes_on = offset >= begin_ && offset <= end + gap_ && !held_.empty();
    block_bytes_ = goes_on ? std::min(2 * block_bytes_, kAscendingBlockMax) : block_least_;
    const std::size_t wanted = std::max(count, block_bytes_);
    held_.clear();  // nothing is held if reading fails
    std::vector<std::uint8_t> block(static_cast<std::size_t>(std::min<std::uint64_t>(wanted, size_ - offset)));
    read_fully(source_, offset, block);
    held_.swap(block);
    begin_ = offset;
  }
  return Bytes(held_).subspan(static_cast<std::size_t>(offset - begin_), count);
}

}  // namespace stoker
