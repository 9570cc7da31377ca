#include "cli/bad_samples.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/console.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

constexpr std::size_t kShown = 20;

}  // namespace

nlohmann::ordered_json bad_samples_json(const std::vector<BadSample>& samples) {
  auto list = nlohmann::ordered_json::array();
  for (const BadSample& sample : samples) list.push_back(nlohmann::ordered_json::parse(bad_sample_line(sample)));
  return list;
}

nlohmann::ordered_json broken_shards_json(const std::vector<BrokenShard>& shards) {
  auto list = nlohmann::ordered_json::array();
  for (const BrokenShard& broken : shards) list.push_back({{"shard", broken.shard}, {"reason", broken.reason}});
  return list;
}

std::string bad_samples_text(std::string_view title, const std::vector<BadSample>& samples) {
  if (samples.empty()) return {};
  std::string text = fmt::format("{} ({}):\n", title, format_count(samples.size()));
  for (std::size_t i = 0; i < std::min(samples.size(), kShown); ++i) {
    const BadSample& sample = samples[i];
    const std::string where = sample.key.empty()     ? sample.shard
                              : sample.shard.empty() ? sample.key
                                                     : fmt::format("{}, sample '{}'", sample.shard, sample.key);
    text += "  " + escaped(where.empty() ? sample.reason : fmt::format("{}: {}", where, sample.reason)) + "\n";
  }
  if (samples.size() > kShown) text += fmt::format("  and {} more\n", format_count(samples.size() - kShown));
  return text;
}

}  // namespace stoker
