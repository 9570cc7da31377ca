#include "stoker/format/lmdb/lmdb_format.h"

#include "stoker/format/lmdb/lmdb_samples.h"

namespace stoker {

bool LmdbFormat::recognises(const ShardCandidate& shard) const {
  return !shard.is_folder() && (is_shard_name(shard.name()) || begins_as_lmdb(shard.head()));
}

bool LmdbFormat::is_shard_name(std::string_view name) const {
  return (name.ends_with(".mdb") && name != "lock.mdb") || name.ends_with(".lmdb");
}

std::unique_ptr<ShardScan> LmdbFormat::scan(Source& shard, const std::stop_token& stop) const {
  stop_if_asked(stop, shard.name());
  const LmdbMeta meta = read_lmdb_meta(shard);
  if (auto numbered = numbered_lmdb_samples(shard, meta, stop)) return numbered;
  return std::make_unique<LmdbEntrySamples>(shard, meta, stop);
}

}  // namespace stoker
