// The report about a sample whose bytes are bad. Threads: a value; many may read it, one may change it.
#pragma once

#include <cstdint>
#include <string>

namespace stoker {

struct BadSample {
  std::string shard, key;
  std::uint64_t offset = 0;  // of its first field in the shard
  std::string reason;
};

/// {"shard", "key", "offset", "reason"} and the end of the line: what lists of bad samples are made of.
std::string bad_sample_line(const BadSample& bad);

}  // namespace stoker
