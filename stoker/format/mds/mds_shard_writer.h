// Packs MDS shards, as MosaicML's Streaming reads them, and the index.json that lists them.
#pragma once

#include "stoker/format/shard_file_writer.h"

namespace stoker {

/// All shards have the columns "__key__" (str), "image" (jpeg or png if all images are, else bytes) if samples have
/// one, "label" (int) if a sample has one, and those of the other fields (str if their names say so, else bytes). All
/// samples have an image or none has, and all have the other fields.
class MdsWriting final : public WritableFormat {
 public:
  std::string_view name() const override { return "mds"; }
  void require_fits(const SampleRow& row) const override;
  void require_all_fit(const PackContents& contents) const override;
  std::uint64_t bytes_of(const SampleRow& row) const override;
  std::uint64_t shard_bytes_max() const override;
  /// All of it: a shard begins with where its samples lie.
  std::uint64_t held_bytes(std::uint64_t shard_bytes) const override;
  std::unique_ptr<ShardFileWriter> begin(const Stores& stores, const Location& shard, IndexWriter& index,
                                         const PackContents& contents) const override;
  std::vector<WrittenFile> files_beside(const PackContents& contents,
                                        const std::vector<WrittenShard>& shards) const override;
};

}  // namespace stoker
