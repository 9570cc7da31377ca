// What is known of a shard once it is packed: what the manifest will say of it, as a job keeps it until then.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stoker/format/manifest/manifest.h"

namespace stoker {

/// One shard that is on disk under its name, and where the next one begins.
struct PackedShard {
  ManifestShard shard;
  std::vector<std::string> fields;  // that occur in it
  std::int64_t next_position = 0;   // of the first sample that is not in this or an earlier shard
  std::vector<ManifestBad> bad;     // those left out or kept as they are, up to there
  std::int64_t concealed = 0;
};

nlohmann::json to_json(const PackedShard& packed);
/// What to_json() was given. Throws nlohmann's exceptions for anything else.
PackedShard packed_shard_of(const nlohmann::json& json);

}  // namespace stoker
