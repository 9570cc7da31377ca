// Finds the shards that the user's text names.
#pragma once

#include <cstddef>
#include <optional>
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

/// What becomes of a folder with a pack of tokens, which has no shards.
enum class TokenPacks {
  kRefuse,  // with a sentence that says how it is opened
  kPass,    // Manifests::whole_folders() has it
};

/// DATA (INTERFACES), or several of them joined in order. A folder with a manifest stands for the shards it lists.
/// Throws kNotFound, kIo, kData or kUsage with a sentence that names the file, and kClosed when asked to `stop`.
std::vector<FoundShard> find_shards(const std::vector<std::string>& data, const Stores& stores, Manifests& manifests,
                                    const std::stop_token& stop, TokenPacks token_packs = TokenPacks::kRefuse);

/// Those of these numbers; all where none are given. Throws kUsage for a number that no shard has.
std::vector<FoundShard> chosen_shards(std::vector<FoundShard> shards,
                                      const std::optional<std::vector<std::size_t>>& numbers);

}  // namespace stoker
