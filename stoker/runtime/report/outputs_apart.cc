#include "stoker/runtime/report/outputs_apart.h"

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/storage/source.h"

namespace stoker {
namespace {

using FileIdentity = std::pair<dev_t, ino_t>;

/// None for what is not there or is no regular file, a URL among them.
std::optional<FileIdentity> regular_file(const std::string& path) {
  struct stat found;
  if (::stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return std::nullopt;
  return FileIdentity(found.st_dev, found.st_ino);
}

/// Without opening those that are opened later. A view has seen the rows of all its samples, so that reading some of
/// them opens nothing either.
std::vector<std::string> shard_names(const Dataset& dataset) {
  std::vector<std::string> names;
  if (const auto* const sharded = dynamic_cast<const ShardedDataset*>(&dataset)) {
    for (const auto& shard : sharded->shards()) names.push_back(shard->name());
    return names;
  }
  std::int64_t first = 0;
  for (const std::int64_t samples : dataset.shard_samples()) {
    if (samples > 0) names.push_back(dataset.row(first).source->name());
    first += samples;
  }
  return names;
}

}  // namespace

void check_outputs_apart(std::initializer_list<OutputPath> outputs, const std::vector<std::string>& data,
                         const Dataset& dataset) {
  std::map<FileIdentity, const OutputPath*> existing;
  for (const OutputPath& output : outputs) {
    if (const auto file = regular_file(output.path)) existing.emplace(*file, &output);
  }
  if (existing.empty()) return;
  std::vector<std::string> inputs = shard_names(dataset);
  inputs.insert(inputs.end(), data.begin(), data.end());
  for (const std::string& input : inputs) {
    const auto file = regular_file(input);
    const auto output = file ? existing.find(*file) : existing.end();
    if (output == existing.end()) continue;
    fail(ErrorKind::kUsage, "{} would write over '{}', which holds the data; give it a file of its own",
         output->second->option, output->second->path);
  }
}

}  // namespace stoker
