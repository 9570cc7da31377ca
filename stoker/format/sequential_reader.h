// Reads a shard, or a part of it, once from its beginning to its end, for scans that look at every byte, in large
// blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/storage/source.h"

namespace stoker {

/// Threads: one.
class SequentialReader {
 public:
  /// The source must outlive it.
  explicit SequentialReader(Source& source) : SequentialReader(source, 0, source.size(), kBlockBytes) {}
  /// Reads the bytes from `begin` to `end`, which lie in the source, in blocks of that many bytes.
  SequentialReader(Source& source, std::uint64_t begin, std::uint64_t end, std::size_t block_bytes = kBlockBytes)
      : source_(source), size_(end), block_bytes_(block_bytes), position_(begin) {}

  static constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

  std::uint64_t position() const { return position_; }
  /// Bytes from there to the end.
  std::uint64_t left() const { return size_ - position_; }

  /// The next `count` bytes, of which at least so many must be left; they stay until the next call. Holds a block, or
  /// as many bytes as were asked for. Throws what reading throws.
  Bytes take(std::size_t count);
  /// The same bytes, which remain the next; fewer at the end.
  Bytes peek(std::size_t count);

 private:
  void fill(std::size_t count);

  Source& source_;
  std::uint64_t size_;
  std::size_t block_bytes_;
  std::uint64_t position_;
  std::vector<std::uint8_t> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // what of the buffer is read and not taken; its first byte is at position_
};

}  // namespace stoker
