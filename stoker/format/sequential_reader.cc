#include "stoker/format/sequential_reader.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace stoker {

Bytes SequentialReader::take(std::size_t count) {
  assert(count <= left());
  if (end_ - begin_ < count) fill(count);
  const Bytes taken = Bytes(buffer_).subspan(begin_, count);
  begin_ += count;
  position_ += count;
  return taken;
}

Bytes SequentialReader::peek(std::size_t count) {
  count = static_cast<std::size_t>(std::min<std::uint64_t>(count, left()));
  if (end_ - begin_ < count) fill(count);
  return Bytes(buffer_).subspan(begin_, count);
}

void SequentialReader::fill(std::size_t count) {
  const std::size_t kept = end_ - begin_;
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(std::max(count, block_bytes_), left()));
  // One large record does not leave its memory to the rest of the shard.
  if (buffer_.size() < wanted || buffer_.size() > 2 * std::max(wanted, block_bytes_)) {
    std::vector<std::uint8_t> other(wanted);
    std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_), kept, other.begin());
    buffer_ = std::move(other);
  } else {
    std::memmove(buffer_.data(), buffer_.data() + begin_, kept);
  }
  begin_ = 0;
  end_ = kept;
  read_fully(source_, position_ + kept, MutableBytes(buffer_).subspan(kept, wanted - kept));
  end_ = wanted;
}

}  // namespace stoker
