// Finds the shards that the user's text names.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "stoker/format/manifest/manifest_lookup.h"
#include "stoker/format/shard_format.h"

namespace stoker {

struct FoundShard {
  Location location;
  const ShardFormat* format;
};

/// DATA (INTERFACES), or several of them joined in order. A folder with a manifest stands for the shards it lists.
/// Throws kNotFound, kIo, kData or kUsage with a sentence that names the file, and kClosed when asked to `stop`.
std::vector<FoundShard> find_shards(const std::vector<std::string>& data, const Stores& stores, Manifests& manifests,
                                    const std::stop_token& stop);

}  // namespace stoker
