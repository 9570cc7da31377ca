#include "stoker/format/arrow/arrow_buffer.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "stoker/base/little_endian.h"

namespace stoker {
namespace {

// Far away a request costs as much as many bytes.
constexpr std::uint64_t kWindowBytes = 4 << 10, kRemoteWindowBytes = 256 << 10;

}  // namespace

Bytes ArrowBuffer::read(std::uint64_t offset, std::size_t count) {
  assert(offset <= range_.bytes && count <= range_.bytes - offset);
  if (count == 0) return {};
  if (offset < begin_ || offset + count > begin_ + held_.size()) {
    const std::uint64_t window = source_->is_remote() ? kRemoteWindowBytes : kWindowBytes;
    const std::uint64_t wanted = std::min(range_.bytes - offset, std::max<std::uint64_t>(count, window));
    held_.clear();  // nothing is held if reading fails
    std::vector<std::uint8_t> read(static_cast<std::size_t>(wanted));
    read_fully(*source_, range_.place + offset, read);
    held_.swap(read);
    begin_ = offset;
  }
  return Bytes(held_).subspan(static_cast<std::size_t>(offset - begin_), count);
}

std::uint64_t ArrowBuffer::number(std::uint64_t row, std::size_t width) {
  std::array<std::uint8_t, 8> number{};
  const Bytes bytes = read(row * width, width);
  std::copy(bytes.begin(), bytes.end(), number.begin());
  return load_little_endian<std::uint64_t>(number.data());
}

bool ArrowBuffer::bit(std::uint64_t row) { return (read(row / 8, 1)[0] >> row % 8 & 1) != 0; }

bool ArrowBuffer::all_bits(std::uint64_t begin, std::uint64_t end) {
  const auto are_set = [&](std::uint64_t until) {
    while (begin < until && bit(begin)) ++begin;
    return begin == until;
  };
  if (!are_set(std::min(end, (begin + 7) / 8 * 8))) return false;
  while (end - begin >= 8) {
    const auto count = static_cast<std::size_t>(std::min((end - begin) / 8, kWindowBytes));
    const Bytes bytes = read(begin / 8, count);
    if (!std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0xff; })) return false;
    begin += 8 * count;
  }
  return are_set(end);
}

}  // namespace stoker
