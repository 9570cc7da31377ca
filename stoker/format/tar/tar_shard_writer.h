// Packs tars that every WebDataset tool reads: a member for each field of a sample, and the index as the last member.
#pragma once

#include "stoker/format/shard_file_writer.h"

namespace stoker {

class TarWriting final : public WritableFormat {
 public:
  std::string_view name() const override { return "tar"; }
  void require_fits(const SampleRow& row) const override;
  std::uint64_t bytes_of(const SampleRow& row) const override;
  std::unique_ptr<ShardFileWriter> begin(const Stores& stores, const Location& shard, IndexWriter& index,
                                         const PackContents& contents) const override;
};

}  // namespace stoker
