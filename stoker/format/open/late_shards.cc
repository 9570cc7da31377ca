#include "stoker/format/open/late_shards.h"

#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/log.h"
#include "stoker/base/side_by_side.h"

namespace stoker {
std::size_t LateShards::add(const FoundShard& shard, const ManifestShard& listed) {
  shards_.push_back({{shard.location.absolute(), shard.format}, listed});
  return shards_.size() - 1;
}

LateShards::Ends LateShards::fetch_ends(std::span<const std::size_t> shards) const {
  std::vector<Location> locations;
  for (const std::size_t shard : shards) locations.push_back(shards_[shard].shard.location);
  opener_.stores().expect(locations);
  Ends ends;
  Pending reads;
  for (const std::size_t shard : shards) {
    const std::exception_ptr absent = thrown_by([&] {
      KeptEnd end(opener_.stores().open(shards_[shard].shard.location));
      if (!end.source()->is_remote()) return;
      ends.emplace(shard, std::move(end)).first->second.fetch(reads);
    });
  }
  reads.wait();
  return ends;
}

void LateShards::expect(std::span<const std::size_t> shards) const {
  const std::exception_ptr ignored = thrown_by([&] {  // open() tells what is wrong
    const Ends ends = fetch_ends(shards);
    std::vector<std::size_t> far;
    for (const auto& [shard, end] : ends) far.push_back(shard);
    run_side_by_side(*opening_, far, [&](std::size_t shard) {
      const std::exception_ptr unopened = thrown_by([&] {
        const Late& late = shards_[shard];
        OpenedShard opened = opener_.open(late.shard, late.listed, ends.at(shard));
        const std::lock_guard lock(mutex_);
        ready_.emplace(shard, std::move(opened));
      });
    });
  });
}

void LateShards::forget(std::span<const std::size_t> shards) const {
  const std::lock_guard lock(mutex_);
  for (const std::size_t shard : shards) ready_.erase(shard);
}

OpenedShard LateShards::open(std::size_t shard) const {
  const Late& late = shards_[shard];
  std::optional<OpenedShard> ready = take_ready(shard);
  OpenedShard opened = ready ? *std::move(ready) : opener_.open(late.shard, {}, &late.listed);
  for (const std::string& problem : opened.problems) log(LogLevel::kWarning, "{}", problem);
  return opened;
}

std::optional<OpenedShard> LateShards::take_ready(std::size_t shard) const {
  const std::lock_guard lock(mutex_);
  const auto found = ready_.find(shard);
  if (found == ready_.end()) return std::nullopt;
  OpenedShard opened = std::move(found->second);
  ready_.erase(found);
  return opened;
}

}  // namespace stoker
