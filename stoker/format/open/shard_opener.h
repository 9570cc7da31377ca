// Opens single shards: by the valid index if there is one, else by a scan.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/format/index/index_places.h"
#include "stoker/format/open/find_shards.h"
#include "stoker/format/shard_rows.h"
#include "stoker/storage/block_cache.h"
#include "stoker/storage/kept_end.h"

namespace stoker {

struct OpenedShard {
  std::shared_ptr<Source> source;
  std::shared_ptr<const ShardRows> rows;
  std::vector<std::string> classes{};          // by label, if the shard names them
  std::vector<std::string> problems{};         // sentences about what is wrong but not in the way
  std::shared_ptr<const BlockTable> blocks{};  // compressed ones, which the source decompresses
};

class ShardOpener {
 public:
  /// The folders of `index` stay those they are now when the working directory changes.
  ShardOpener(Stores stores, IndexOptions index, std::size_t cache_bytes);

  const Stores& stores() const { return stores_; }

  /// What a scan found is kept in the user's cache. `listed`: what a manifest says of the shard, if one does. Throws as
  /// ShardFormat::scan does, and kData for a shard that is not what is listed, or whose listed index is damaged: what
  /// a scan finds cannot tell whether its samples' bytes are those that were packed.
  OpenedShard open(const FoundShard& shard, const std::stop_token& stop = {},
                   const ManifestShard* listed = nullptr) const;
  /// The same, of a listed shard whose end may have been fetched.
  OpenedShard open(const FoundShard& shard, const ManifestShard& listed, const KeptEnd& end) const;

 private:
  OpenedShard open_file(const FoundShard& shard, const KeptEnd& end, const std::stop_token& stop,
                        const ManifestShard* listed) const;
  /// Puts the shard's compressed blocks, if it has any, before its source.
  void add_blocks(OpenedShard& shard) const;
  OpenedShard scan(const FoundShard& shard, const std::shared_ptr<Source>& source, const std::stop_token& stop) const;

  Stores stores_;
  IndexOptions index_;
  std::shared_ptr<IndexCache> cache_;
  std::shared_ptr<BlockCache> block_cache_;  // of all shards
};

}  // namespace stoker
