// The hash of all bytes of a shard, including those that belong to no sample.
#pragma once

#include <cstdint>
#include <stop_token>

#include "stoker/storage/source.h"

namespace stoker {

/// XXH3-64 of the first `bytes` bytes. Throws what reading throws, and kClosed when asked to stop.
std::uint64_t whole_hash(Source& source, std::uint64_t bytes, const std::stop_token& stop);

}  // namespace stoker
