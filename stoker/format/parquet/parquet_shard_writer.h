// Packs Parquet files, as Hugging Face's `datasets` writes and reads them.
#pragma once

#include "stoker/format/shard_file_writer.h"

namespace stoker {

/// All files have the columns "image" (bytes and path), "label" (64-bit integers, of classes with the data set's names)
/// if a sample has one, "__key__" (text), and those of the other fields (text if their names say so, else bytes).
class ParquetWriting final : public WritableFormat {
 public:
  std::string_view name() const override { return "parquet"; }
  void require_fits(const SampleRow& row) const override;
  void require_all_fit(const PackContents& contents) const override;
  std::uint64_t bytes_of(const SampleRow& row) const override;
  /// A row group.
  std::uint64_t held_bytes(std::uint64_t shard_bytes) const override;
  std::unique_ptr<ShardFileWriter> begin(const Stores& stores, const Location& shard, IndexWriter& index,
                                         const PackContents& contents) const override;
};

}  // namespace stoker
