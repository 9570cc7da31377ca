// Formats the faults found in samples for commands.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "stoker/pack/index_job.h"

namespace stoker {

/// [{"shard", "key", "offset", "reason"}, ...]
nlohmann::ordered_json bad_samples_json(const std::vector<BadSample>& samples);

/// [{"shard", "reason"}, ...]
nlohmann::ordered_json broken_shards_json(const std::vector<BrokenShard>& shards);

/// One line each, after `title`; of a long list the first ones and the number of the rest. Empty for an empty list.
std::string bad_samples_text(std::string_view title, const std::vector<BadSample>& samples);

}  // namespace stoker
