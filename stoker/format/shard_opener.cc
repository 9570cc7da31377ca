#include "stoker/format/shard_opener.h"

#include <utility>

#include "stoker/format/sample_table.h"
#include "stoker/storage/file_source.h"

namespace stoker {

OpenedShard ShardOpener::open(const ShardPath& shard, std::vector<std::string>& classes,
                              const std::stop_token& stop) const {
  if (!index.use || !shard.format->is_one_file()) return scan(shard, classes, stop);
  // Indexes profit from the page cache, also where samples pass it by.
  const auto open_source = [this](const std::string& path) { return std::make_shared<FileSource>(path, access); };
  const std::shared_ptr<Source> buffered = open_source(shard.path);
  if (auto rows = find_index(buffered, shard.path, index, open_source, cache)) {
    const FileOptions options{.direct = access.direct, .pattern = AccessPattern::kRandom};
    return {std::make_shared<FileSource>(shard.path, access, options), std::move(rows)};
  }
  OpenedShard opened = scan(shard, classes, stop);
  if (!index.cache_folder.empty()) keep_scan(*buffered, *opened.rows, index.cache_folder);
  return opened;
}

OpenedShard ShardOpener::scan(const ShardPath& shard, std::vector<std::string>& classes,
                              const std::stop_token& stop) const {
  ShardContents contents = shard.format->scan(shard.path, access, stop);
  contents.samples.shrink_to_fit();
  classes = std::move(contents.classes);
  return {std::move(contents.source), std::make_shared<const SampleTable>(std::move(contents.samples))};
}

}  // namespace stoker
