// What is told of a sample whose bytes are bad.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace stoker {

struct BadSample {
  std::string shard, key;
  std::uint64_t offset = 0;  // of its first field in the shard
  std::string reason;
};

/// {"shard", "key", "offset", "reason"}, as every list of bad samples has it.
nlohmann::ordered_json bad_sample_json(const BadSample& bad);

}  // namespace stoker
