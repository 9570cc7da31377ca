#include "stoker/format/open/shard_opener.h"

#include <fmt/format.h>

#include <utility>

#include "stoker/format/manifest/listed_shard.h"
#include "stoker/format/sample_table.h"
#include "stoker/storage/file_source.h"
#include "stoker/storage/open_file.h"

namespace stoker {
namespace {

void refuse(const std::string& why) {
  if (!why.empty()) fail(ErrorKind::kData, "{}", why);
}

}  // namespace

ShardOpener::ShardOpener(FileAccess access, IndexOptions index, std::size_t cache_bytes)
    : access_(std::move(access)), index_(std::move(index)), cache_(std::make_shared<IndexCache>(cache_bytes)) {
  for (std::string* folder : {&index_.folder, &index_.cache_folder}) {
    if (!folder->empty()) *folder = absolute_path(*folder);
  }
}

OpenedShard ShardOpener::open(const ShardPath& shard, const std::stop_token& stop, const ManifestShard* listed) const {
  OpenedShard opened = open_as_it_is(shard, stop, listed);
  if (listed) refuse(contradiction_of_samples(*listed, shard.path, opened.rows->fingerprint(), opened.rows->bytes()));
  return opened;
}

OpenedShard ShardOpener::open_as_it_is(const ShardPath& shard, const std::stop_token& stop,
                                       const ManifestShard* listed) const {
  if (!index_.use || !shard.format->is_one_file()) return scan(shard, stop);
  // Indexes profit from the page cache, also where samples pass it by.
  const auto open_source = [this](const std::string& path) { return std::make_shared<FileSource>(path, access_); };
  const std::shared_ptr<FileSource> buffered = open_source(shard.path);
  if (listed) refuse(contradiction_of_bytes(*listed, *buffered));
  std::vector<std::string> problems;
  std::shared_ptr<const ShardRows> rows = find_index(buffered, shard.path, index_, open_source, cache_, problems);
  if (!rows && listed && listed->index_tag) {
    refuse(problems.empty() ? fmt::format("the index inside '{}' is damaged", shard.path) : problems.back());
  }
  std::string kept;  // named before the scan: what changes while it goes on is not of this state
  if (!rows && !index_.cache_folder.empty()) {
    kept = index_path_in_cache(index_.cache_folder, *buffered, shard.path);
    rows = find_kept_scan(*buffered, kept, open_source, cache_, problems);
  }
  if (rows) {
    const FileOptions options{.direct = access_.direct, .pattern = AccessPattern::kRandom};
    auto source = std::make_shared<FileSource>(shard.path, access_, options);
    source->require_same_file_as(*buffered);  // the index describes that one
    return {.source = std::move(source), .rows = std::move(rows), .problems = std::move(problems)};
  }
  OpenedShard opened = scan(shard, stop);
  opened.problems.insert(opened.problems.begin(), problems.begin(), problems.end());
  if (!kept.empty()) keep_scan(*buffered, *opened.rows, kept);
  return opened;
}

OpenedShard ShardOpener::scan(const ShardPath& shard, const std::stop_token& stop) const {
  ShardContents contents = shard.format->scan(shard.path, access_, stop);
  contents.samples.shrink_to_fit();
  OpenedShard opened{.source = std::move(contents.source),
                     .rows = std::make_shared<const SampleTable>(std::move(contents.samples)),
                     .classes = std::move(contents.classes),
                     .problems = std::move(contents.problems)};
  if (contents.holds_index && index_.use) {
    opened.problems.push_back(
        fmt::format("the index inside '{}' is damaged or of another version of Stoker", shard.path));
  }
  return opened;
}

}  // namespace stoker
