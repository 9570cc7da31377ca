// Writes one packed shard: a tar that every WebDataset tool reads, its index as the last member.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "stoker/base/hash.h"
#include "stoker/format/index/index_writer.h"
#include "stoker/format/manifest/manifest.h"
#include "stoker/format/tar/tar_writer.h"
#include "stoker/pack/sample_sweep.h"

namespace stoker {

class ShardWriter {
 public:
  explicit ShardWriter(std::unique_ptr<ObjectWriter> object) : tar_(std::move(object)) {}

  /// Adds the sample's fields as members "KEY.FIELD", and its row, whose offsets become those in this shard. Throws
  /// kIo.
  void add(SweptSample& sample);

  /// Bytes of the tar if the sample were added and the index left out.
  std::uint64_t bytes_with(const SweptSample& sample) const;
  std::int64_t samples() const { return index_.samples(); }
  /// Whether one of its samples may have the key: a hash of it is known.
  bool may_hold(std::string_view key) const { return keys_.contains(hash64(key)); }

  /// Adds the index and commits the shard. Returns what the manifest says of it.
  ManifestShard finish(std::string name);
  const std::vector<std::string>& field_names() const { return index_.field_names(); }

 private:
  TarWriter tar_;
  IndexWriter index_;
  std::unordered_set<std::uint64_t> keys_;  // hashes
  std::string member_;
};

}  // namespace stoker
