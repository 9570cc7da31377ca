// Writes one packed shard and what belongs to it: its index, inside where the format has a place for it, else beside
// it.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_set>

#include "stoker/base/hash.h"
#include "stoker/format/index/index_writer.h"
#include "stoker/format/manifest/manifest.h"
#include "stoker/format/shard_file_writer.h"
#include "stoker/pack/sample_sweep.h"

namespace stoker {

class ShardWriter {
 public:
  /// All must outlive it.
  ShardWriter(const WritableFormat& format, const Stores& stores, Location shard, const PackContents& contents)
      : format_(format),
        stores_(stores),
        shard_(std::move(shard)),
        file_(format.begin(stores, shard_, index_, contents)) {}

  /// Adds a sample, whose row becomes that of the shard. Throws kIo, and kUsage or kLimit with the sample named.
  void add(SweptSample& sample);

  /// Bytes of the shard if the sample were added and the index left out.
  std::uint64_t bytes_with(const SampleRow& row) const { return file_->bytes() + format_.bytes_of(row); }
  /// Whether one of its samples may have the key: a hash of it is known.
  bool may_hold(std::string_view key) const { return keys_.contains(hash64(key)); }

  /// Commits the shard with its index. Returns what the manifest says of it.
  ManifestShard finish();
  const std::vector<std::string>& field_names() const { return index_.field_names(); }

 private:
  void put_index_beside(const FinishedShard& made);

  const WritableFormat& format_;
  const Stores& stores_;
  const Location shard_;
  IndexWriter index_;
  std::unique_ptr<ShardFileWriter> file_;
  std::unordered_set<std::uint64_t> keys_;  // hashes
};

}  // namespace stoker
