#include "stoker/pack/source_state.h"

#include <optional>

#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/format/shard_format.h"
#include "stoker/storage/source.h"

namespace stoker {

FileState::FileState(const Stores& stores, Location file)
    : stores_(&stores), file_(std::move(file)), version_(stores.stat(file_, "look at").version()) {}

void FileState::require_unchanged() const {
  if (FileState(*stores_, file_).version() == version_) return;
  fail(ErrorKind::kData, "'{}' changed while it was read; start again when no other program writes to it", file_);
}

SourceState::SourceState(const ShardedDataset& dataset, const Stores& stores, const std::stop_token& stop)
    : dataset_(dataset), stores_(stores) {
  for (const auto& shard : dataset.shards()) {
    const std::optional<ObjectFacts> facts = stores.find(shard->name());
    if (facts && facts->is_file()) shards_.emplace_back(stores, shard->name());
  }
  digest_ = digest_now(stop);
}

std::string SourceState::digest_now(const std::stop_token& stop) const {
  Hasher64 hasher;
  for (const FileState& shard : shards_) hasher.update(as_bytes(shard.version()));
  SampleRow row;
  for (std::int64_t sample = 0; sample < dataset_.size(); ++sample) {
    dataset_.read(sample, row);
    stop_if_asked(stop, row.source->name());
    for (const SampleField& field : row.fields) {
      if (field.part.empty()) continue;  // it is of the shard itself
      hasher.update(as_bytes(FileState(stores_, row.source->name_of(field.part)).version()));
    }
  }
  return to_hex(hasher.digest());
}

void SourceState::require_unchanged(const std::stop_token& stop) const {
  for (const FileState& shard : shards_) shard.require_unchanged();
  if (digest_now(stop) == digest_) return;
  fail(ErrorKind::kData, "files in '{}' changed while they were read; start again when no other program writes to them",
       dataset_.shards().front()->name());
}

}  // namespace stoker
