// The shards of a data set that are opened when one of their samples is first wanted: what the manifest lists is enough
// until then.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "stoker/base/executor.h"
#include "stoker/format/open/shard_opener.h"

namespace stoker {

/// Threads: any, once all shards were added.
class LateShards {
 public:
  LateShards(ShardOpener opener, std::shared_ptr<Executor> opening)
      : opener_(std::move(opener)), opening_(std::move(opening)) {}

  /// Returns its number.
  std::size_t add(const FoundShard& shard, const ManifestShard& listed);
  /// These are opened next: those in distant stores are opened now, side by side, since each waits for several answers
  /// in turn. Never fails.
  void expect(std::span<const std::size_t> shards) const;
  /// Those of them that were not opened are no longer expected.
  void forget(std::span<const std::size_t> shards) const;
  /// Throws as ShardOpener::open(). Logs the shard's problems.
  OpenedShard open(std::size_t shard) const;

 private:
  struct Late {
    FoundShard shard;
    ManifestShard listed;
  };

  using Ends = std::map<std::size_t, KeptEnd>;

  Ends fetch_ends(std::span<const std::size_t> shards) const;
  std::optional<OpenedShard> take_ready(std::size_t shard) const;

  const ShardOpener opener_;
  const std::shared_ptr<Executor> opening_;
  std::vector<Late> shards_;
  mutable std::mutex mutex_;
  mutable std::map<std::size_t, OpenedShard> ready_;  // those that were expected
};

}  // namespace stoker
