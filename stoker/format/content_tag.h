// What tells cheaply whether a shard is still the one that an index was made for.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/storage/source.h"

namespace stoker {

/// XXH3-64 of the number `data_bytes` (eight bytes, the lowest first), the first 4 KiB and the last 4 KiB of the first
/// `data_bytes` bytes; all of them where there are fewer. Throws what reading throws.
std::uint64_t content_tag(Source& shard, std::uint64_t data_bytes);

/// The same of bytes as they are written.
class ContentTagger {
 public:
  void update(Bytes bytes);
  std::uint64_t digest() const;

 private:
  std::uint64_t bytes_ = 0;
  std::vector<std::uint8_t> head_, tail_;
};

}  // namespace stoker
