// What is told of a sample whose bytes are bad.
#pragma once

#include <cstdint>
#include <string>

namespace stoker {

struct BadSample {
  std::int64_t sample = 0;
  std::string key, shard;
  std::uint64_t offset = 0;  // in the shard
  std::string reason;
};

}  // namespace stoker
