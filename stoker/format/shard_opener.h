// Opens single shards: by the index that counts, else by a scan.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/format/data_shard.h"
#include "stoker/format/find_shards.h"
#include "stoker/format/index_places.h"

namespace stoker {

struct ShardOpener {
  FileAccess access;
  IndexOptions index;
  std::shared_ptr<IndexCache> cache;

  /// What a scan found is kept in the user's cache. `classes` becomes the names of the classes, if the shard tells them.
  /// Throws as ShardFormat::scan does.
  OpenedShard open(const ShardPath& shard, std::vector<std::string>& classes, const std::stop_token& stop = {}) const;

 private:
  OpenedShard scan(const ShardPath& shard, std::vector<std::string>& classes, const std::stop_token& stop) const;
};

}  // namespace stoker
