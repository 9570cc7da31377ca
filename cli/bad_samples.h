// What was found to be wrong with samples, as commands show it.
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

/// One line each, after `title`; of many the first ones, and how many more there are. Empty without any.
std::string bad_samples_text(std::string_view title, const std::vector<BadSample>& samples);

}  // namespace stoker
