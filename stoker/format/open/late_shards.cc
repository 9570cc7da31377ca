#include "stoker/format/open/late_shards.h"

#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/log.h"

namespace stoker {

std::size_t LateShards::add(const FoundShard& shard, const ManifestShard& listed) {
  shards_.push_back({{shard.location.absolute(), shard.format}, listed});
  return shards_.size() - 1;
}

void LateShards::expect(std::span<const std::size_t> shards) const {
  const std::exception_ptr ignored = thrown_by([&] {  // open() tells what is wrong
    std::vector<Location> locations;
    for (const std::size_t shard : shards) locations.push_back(shards_[shard].shard.location);
    opener_.stores().expect(locations);
    std::map<std::size_t, KeptEnd> ends;
    Pending reads;
    for (const std::size_t shard : shards) {
      const std::exception_ptr absent = thrown_by([&] {
        const auto end = ends.emplace(shard, opener_.stores().open(shards_[shard].shard.location)).first;
        end->second.fetch(reads);
      });
    }
    reads.wait();
    const std::lock_guard lock(mutex_);
    ends_.merge(ends);
  });
}

void LateShards::forget(std::span<const std::size_t> shards) const {
  const std::lock_guard lock(mutex_);
  for (const std::size_t shard : shards) ends_.erase(shard);
}

OpenedShard LateShards::open(std::size_t shard) const {
  const Late& late = shards_[shard];
  const std::optional<KeptEnd> end = take_end(shard);
  OpenedShard opened = end ? opener_.open(late.shard, late.listed, *end) : opener_.open(late.shard, {}, &late.listed);
  for (const std::string& problem : opened.problems) log(LogLevel::kWarning, "{}", problem);
  return opened;
}

std::optional<KeptEnd> LateShards::take_end(std::size_t shard) const {
  const std::lock_guard lock(mutex_);
  const auto found = ends_.find(shard);
  if (found == ends_.end()) return std::nullopt;
  KeptEnd end = std::move(found->second);
  ends_.erase(found);
  return end;
}

}  // namespace stoker
