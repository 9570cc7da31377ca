// Reads ranges of a shard, most of which lie one after another, in blocks: small ones where much is passed over between
// two ranges, larger ones where nothing is.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/storage/source.h"

namespace stoker {

/// Threads: one.
class AscendingReader {
 public:
  /// The source must outlive it.
  explicit AscendingReader(Source& source);

  std::uint64_t size() const { return size_; }
  /// The bytes of a range, which must lie in the source; they stay until the next call. Throws what reading throws.
  Bytes read(std::uint64_t offset, std::size_t count);

 private:
  Source& source_;
  std::uint64_t size_, gap_;
  std::size_t block_least_, block_bytes_;
  std::uint64_t begin_ = 0;  // where what is held lies in the source
  std::vector<std::uint8_t> held_;
};

}  // namespace stoker
