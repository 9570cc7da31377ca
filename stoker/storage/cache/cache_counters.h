// What a disk cache has done. A piece is a stretch of bytes that a reader wants: a field of a sample, mostly.
#pragma once

#include <cstdint>

namespace stoker {

struct DiskCacheCounters {
  std::uint64_t hits = 0, misses = 0;                       // pieces that came from the disk, and from the store
  std::uint64_t bytes_from_disk = 0, bytes_from_store = 0;  // of those
  std::uint64_t bytes_written = 0;                          // to the cache
  std::uint64_t dropped = 0;  // stretches that were to be written, but the disk was slower than the store
  std::uint64_t damaged = 0;  // chunks that were not what had been written: they were fetched again
};

}  // namespace stoker
