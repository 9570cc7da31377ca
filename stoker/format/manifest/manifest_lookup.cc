#include "stoker/format/manifest/manifest_lookup.h"

#include <fmt/format.h>

#include "stoker/base/error.h"
#include "stoker/format/manifest/listed_shard.h"

namespace stoker {

const Manifests::Entry& Manifests::entry(const Location& given) {
  const Location folder = (given / kManifestName).parent();  // however it is written
  const auto known = entries_.find(folder);
  if (known != entries_.end()) return known->second;
  Entry entry;
  if (const auto fault = fault_of_data([&] { entry.manifest = Manifest::read(stores_, folder); })) {
    problems_.push_back(fmt::format("{}; its shards are opened one by one", *fault));
  }
  if (!entry.manifest && stores_.find(folder / kJournalName)) {
    fail(ErrorKind::kData, "'{}' contains an unfinished pack; the same `stoker pack` resumes it", folder);
  }
  if (entry.manifest) {
    for (const ManifestShard& shard : entry.manifest->shards) entry.shards.emplace(shard.name, &shard);
  }
  return entries_.emplace(folder, std::move(entry)).first->second;
}

Manifests::Found Manifests::find(const Location& shard) {
  const std::optional<ObjectFacts> facts = stores_.find(shard);
  if (facts && facts->is_folder()) return {};  // loose files, which no manifest lists
  const Location folder = shard.parent();
  const Entry& beside = entry(folder.empty() ? "." : folder);
  if (!beside.manifest) return {};
  const auto listed = beside.shards.find(shard.name());
  if (listed == beside.shards.end()) {
    problems_.push_back(fmt::format("'{}' is not in the manifest beside it", shard));
    return {&*beside.manifest, nullptr};
  }
  const std::uint64_t bytes = facts ? facts->size : stores_.stat(shard, "open").size;
  return {&*beside.manifest, listed->second, contradiction_of_size(*listed->second, shard.shown(), bytes)};
}

const ManifestTokens* Manifests::tokens_of(const Location& in) {
  const Entry& found = entry(in);
  return found.manifest && found.manifest->tokens ? &*found.manifest->tokens : nullptr;
}

std::vector<Location> Manifests::shards_of(const Location& in) {
  std::vector<Location> shards;
  if (const Entry& found = entry(in); found.manifest) {
    for (const ManifestShard& shard : found.manifest->shards) shards.push_back(in / shard.name);
    whole_folders_.push_back(in);
  }
  return shards;
}

}  // namespace stoker
