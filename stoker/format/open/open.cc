// open_dataset: from what the user wrote to one data set.
#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/log.h"
#include "stoker/base/machine.h"
#include "stoker/base/side_by_side.h"
#include "stoker/format/open/find_shards.h"
#include "stoker/format/open/shard_opener.h"
#include "stoker/format/open/sharded_dataset.h"

namespace stoker {
namespace {

/// The memory that rows of indexes may take: 64 MiB hold some 600,000. Drawing at random from more samples than are
/// held costs a read of the index for many of them.
std::size_t index_cache_bytes() {
  constexpr std::uint64_t kMebibyte = 1 << 20;
  return static_cast<std::size_t>(std::clamp(usable_memory() / 64, 64 * kMebibyte, 512 * kMebibyte));
}

void log_problems(const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) log(LogLevel::kWarning, "{}", problem);
}

/// What is to become one shard of the data set.
struct Candidate {
  FoundShard shard;
  Manifests::Found listed;
  bool later;  // only when one of its samples is wanted: what is listed is enough until then
  OpenedShard opened{};
  std::exception_ptr error{};
};

/// Opens those that are to be opened at once; errors are theirs.
void open_now(const ShardOpener& opener, std::vector<Candidate>& candidates, const std::stop_token& stop,
              Executor& opening) {
  std::vector<std::size_t> now;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!candidates[i].later) now.push_back(i);
  }
  std::atomic<std::size_t> first_failed{candidates.size()};
  run_side_by_side(opening, now, [&](std::size_t i) {
    Candidate& candidate = candidates[i];
    if (i > first_failed) return;  // its outcome would change nothing
    candidate.error = thrown_by([&] {
      stop_if_asked(stop, candidate.shard.location.shown());
      candidate.opened = opener.open(candidate.shard, stop, candidate.listed.shard);
    });
    if (!candidate.error) return;
    for (std::size_t before = first_failed; i < before && !first_failed.compare_exchange_weak(before, i);) {
    }
  });
  // That of the first shard, whichever failed first.
  for (const Candidate& candidate : candidates) {
    if (candidate.error) std::rethrow_exception(candidate.error);
  }
}

}  // namespace

std::shared_ptr<const ShardedDataset> open_dataset(const std::vector<std::string>& data, const Stores& stores,
                                                   const IndexOptions& index, const std::stop_token& stop,
                                                   std::shared_ptr<Executor> opening) {
  if (!opening) opening = std::make_shared<InlineExecutor>();
  const ShardOpener opener(stores, index, index_cache_bytes());
  Manifests manifests(stores);
  std::vector<Candidate> candidates;
  for (const FoundShard& shard : find_shards(data, stores, manifests, stop)) {
    Manifests::Found listed = manifests.find(shard.location);
    if (!listed.contradiction.empty()) fail(ErrorKind::kData, "{}", listed.contradiction);
    const bool later = index.use && listed.shard != nullptr;
    candidates.push_back({shard, std::move(listed), later});
  }
  log_problems(manifests.take_problems());
  open_now(opener, candidates, stop, *opening);

  TrafficMeters meters;
  const auto add_meter = [&](const Location& at) {
    if (auto meter = stores.of(at).meter()) add_meters({std::move(meter)}, meters);
  };
  for (const std::string& given : data) add_meter(given);
  if (!index.folder.empty()) add_meter(index.folder);
  // Near shards are opened one by one when they are wanted, so that the threads can go.
  if (meters.empty()) opening = std::make_shared<InlineExecutor>();
  const auto late = std::make_shared<LateShards>(opener, std::move(opening));
  std::vector<std::unique_ptr<DataShard>> shards;
  std::vector<std::string> fields, first_classes;
  for (Candidate& candidate : candidates) {
    add_meter(candidate.shard.location);
    log_problems(candidate.opened.problems);
    add_field_names(candidate.later ? candidate.listed.manifest->fields : candidate.opened.rows->field_names(), fields);
    const Manifest* manifest = candidate.listed.manifest;
    const std::vector<std::string> classes = manifest ? manifest->classes : candidate.opened.classes;
    if (shards.empty()) first_classes = classes;
    require_same_classes(candidates.front().shard.location.shown(), first_classes, candidate.shard.location.shown(),
                         classes);
    if (candidate.later) {
      const ManifestShard& listed = *candidate.listed.shard;
      const std::size_t number = late->add(candidate.shard, listed);
      shards.push_back(std::make_unique<DataShard>(candidate.shard.location.shown(), listed.samples,
                                                   listed.sample_bytes, listed.fingerprint, late, number));
    } else {
      shards.push_back(std::make_unique<DataShard>(std::move(candidate.opened)));
    }
  }
  return std::make_shared<ShardedDataset>(std::move(shards), std::move(fields), std::move(first_classes),
                                          std::move(meters), late, stores.is_direct());
}

}  // namespace stoker
