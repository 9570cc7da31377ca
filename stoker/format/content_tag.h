// A cheap check whether a shard is still the one that an index was made for.
#pragma once

#include <cstdint>

#include "stoker/storage/source.h"

namespace stoker {

/// XXH3-64 of the number `data_bytes` (eight bytes, the lowest first) and of some of the first `data_bytes` bytes: the
/// first 4 KiB, the last 4 KiB, and 512 bytes at each of 64 places spread over all of them; as much of each as there
/// is. Throws what reading throws.
std::uint64_t content_tag(Source& shard, std::uint64_t data_bytes);

}  // namespace stoker
