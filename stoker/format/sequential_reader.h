// Reads a shard once from its beginning to its end, for scans that look at every byte, in large blocks.
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
  explicit SequentialReader(Source& source) : source_(source), size_(source.size()) {}

  std::uint64_t position() const { return position_; }
  /// Bytes from there to the end of the source.
  std::uint64_t left() const { return size_ - position_; }

  /// The next `count` bytes, of which at least so many must be left; they stay until the next call. Holds a block, or
  /// as many bytes as were asked for. Throws what reading throws.
  Bytes take(std::size_t count);

 private:
  void fill(std::size_t count);

  Source& source_;
  std::uint64_t size_;
  std::uint64_t position_ = 0;
  std::vector<std::uint8_t> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // what of the buffer is read and not taken; its first byte is at position_
};

}  // namespace stoker
