#include "stoker/format/open/shard_opener.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stoker/base/hash.h"
#include "stoker/format/manifest/listed_shard.h"
#include "stoker/format/sample_table.h"
#include "stoker/storage/block_source.h"

namespace stoker {
namespace {

void refuse(const std::string& why) {
  if (!why.empty()) fail(ErrorKind::kData, "{}", why);
}

void require_listed_samples(const ManifestShard& listed, const FoundShard& shard, const OpenedShard& opened) {
  const ShardRows& rows = *opened.rows;
  refuse(contradiction_of_samples(listed, shard.location.shown(), rows.fingerprint(), rows.bytes()));
}

/// Each small read of a distant shard is a request.
ContentCheck check_of_index(const KeptEnd& shard, const Location& location, const ManifestShard* listed) {
  const bool is_listed = listed && std::find(listed->beside.begin(), listed->beside.end(),
                                             index_beside(location).name()) != listed->beside.end();
  return is_listed && shard.source()->is_remote() ? ContentCheck::kLeftToChecksums : ContentCheck::kMade;
}

}  // namespace

ShardOpener::ShardOpener(Stores stores, IndexOptions index, std::size_t cache_bytes)
    : stores_(std::move(stores)),
      index_(std::move(index)),
      cache_(std::make_shared<IndexCache>(cache_bytes)),
      block_cache_(std::make_shared<BlockCache>(BlockCache::kBytesMax, stores_.block_threads())) {
  for (Location* folder : {&index_.folder, &index_.cache_folder}) {
    if (!folder->empty()) *folder = folder->absolute();
  }
}

OpenedShard ShardOpener::open(const FoundShard& shard, const std::stop_token& stop, const ManifestShard* listed) const {
  const Store& store = stores_.of(shard.location);
  if (!shard.format->is_one_file()) return scan(shard, shard.format->open(store, shard.location), stop);
  // Indexes and scans profit from the page cache, also where samples pass it by.
  KeptEnd end(store.open(shard.location));
  if (index_.use) end.fetch();
  OpenedShard opened = open_file(shard, end, stop, listed);
  if (listed) require_listed_samples(*listed, shard, opened);
  return opened;
}

OpenedShard ShardOpener::open(const FoundShard& shard, const ManifestShard& listed, const KeptEnd& end) const {
  OpenedShard opened = open_file(shard, end, {}, &listed);
  require_listed_samples(listed, shard, opened);
  return opened;
}

OpenedShard ShardOpener::open_file(const FoundShard& shard, const KeptEnd& end, const std::stop_token& stop,
                                   const ManifestShard* listed) const {
  const Store& store = stores_.of(shard.location);
  const std::shared_ptr<Source>& source = end.source();
  if (!index_.use) return scan(shard, source, stop);
  if (listed) refuse(contradiction_of_bytes(*listed, end));
  std::vector<std::string> problems;
  std::shared_ptr<const ShardIndex> rows =
      find_index(end, shard.location, index_, stores_, cache_, problems, check_of_index(end, shard.location, listed));
  if (!rows && listed && listed->index_tag) {
    refuse(problems.empty() ? fmt::format("the index inside '{}' is damaged", shard.location) : problems.back());
  }
  Location kept;  // named before the scan: what changes while it goes on is not of this state
  if (!rows && !index_.cache_folder.empty()) {
    kept = index_in_cache(index_.cache_folder, *source, store.stat(shard.location, "look at"));
    if (shard.format->may_hold_sets() && !index_.images.empty()) {
      kept = kept.parent() / fmt::format("{}-{}", to_hex(hash64(index_.images)), kept.name());
    }
    rows = find_kept_scan(*source, kept, stores_, cache_, problems);
  }
  if (rows) {
    OpenedShard opened{.source = store.open_for_samples(source),
                       .rows = rows,
                       .classes = rows->class_names(),
                       .problems = std::move(problems),
                       .blocks = rows->compressed_blocks()};
    add_blocks(opened);
    return opened;
  }
  OpenedShard opened = scan(shard, source, stop);
  opened.problems.insert(opened.problems.begin(), problems.begin(), problems.end());
  if (!kept.empty()) keep_scan(*source, *opened.rows, opened.blocks.get(), opened.classes, kept, stores_);
  return opened;
}

OpenedShard ShardOpener::scan(const FoundShard& shard, const std::shared_ptr<Source>& source,
                              const std::stop_token& stop) const {
  const ShardFormat& format = *shard.format;
  const std::unique_ptr<ShardScan> scan = format.may_hold_sets()
                                              ? format.scan_set(*source, index_.images, stop)
                                              : format.scan_at(stores_, shard.location, *source, stop);
  SampleTable samples = table_of(*scan);
  samples.shrink_to_fit();
  ShardNotes notes = scan->take_notes();
  if (notes.holds_index && index_.use) {
    notes.problems.push_back(
        fmt::format("the index inside '{}' is damaged or of another version of Stoker", shard.location));
  }
  std::shared_ptr<Source> samples_source =
      shard.format->is_one_file() ? stores_.of(shard.location).open_for_samples(source) : source;
  OpenedShard opened{.source = std::move(samples_source),
                     .rows = std::make_shared<const SampleTable>(std::move(samples)),
                     .classes = std::move(notes.classes),
                     .problems = std::move(notes.problems),
                     .blocks = std::move(notes.blocks)};
  add_blocks(opened);
  return opened;
}

void ShardOpener::add_blocks(OpenedShard& shard) const {
  if (shard.blocks) shard.source = std::make_shared<BlockSource>(shard.source, shard.blocks, block_cache_);
}

}  // namespace stoker
