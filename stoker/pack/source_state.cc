#include "stoker/pack/source_state.h"

#include <filesystem>

#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/format/shard_format.h"
#include "stoker/storage/source.h"

namespace stoker {

SourceState::SourceState(const ShardedDataset& dataset, const std::stop_token& stop) : dataset_(dataset) {
  for (const auto& shard : dataset.shards()) {
    if (std::filesystem::is_regular_file(shard->name())) shards_.emplace_back(shard->name());
  }
  digest_ = digest_of(shards_, dataset, stop);
}

std::string SourceState::digest_of(const std::vector<FileState>& shards, const ShardedDataset& dataset,
                                   const std::stop_token& stop) {
  Hasher64 hasher;
  for (const FileState& shard : shards) hasher.update(as_bytes(shard.describe()));
  SampleRow row;
  for (std::int64_t sample = 0; sample < dataset.size(); ++sample) {
    dataset.read(sample, row);
    stop_if_asked(stop, row.source->name());
    if (row.fields.empty() || row.fields.front().part.empty()) continue;
    for (const SampleField& field : row.fields) {
      hasher.update(as_bytes(FileState(row.source->name() + "/" + std::string(field.part)).describe()));
    }
  }
  return to_hex(hasher.digest());
}

void SourceState::require_unchanged(const std::stop_token& stop) const {
  std::vector<FileState> now;
  for (const FileState& shard : shards_) {
    shard.require_unchanged();
    now.push_back(shard);
  }
  if (digest_of(now, dataset_, stop) == digest_) return;
  fail(ErrorKind::kData, "files in '{}' were changed while they were read; start again once nobody writes to them",
       dataset_.shards().front()->name());
}

}  // namespace stoker
