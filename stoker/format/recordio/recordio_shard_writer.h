// Packs RecordIO files as MXNet's im2rec does: a record for each image, with its labels, and beside the file the list
// of offsets (.idx) by which MXIndexedRecordIO finds records.
#pragma once

#include "stoker/format/shard_file_writer.h"

namespace stoker {

/// Samples have numbers, those of their records, in place of keys, and an image and labels alone.
class RecordIoWriting final : public WritableFormat {
 public:
  std::string_view name() const override { return "recordio"; }
  std::string_view ending() const override { return "rec"; }
  void require_fits(const SampleRow& row) const override;
  std::uint64_t bytes_of(const SampleRow& row) const override;
  std::unique_ptr<ShardFileWriter> begin(const Stores& stores, const Location& shard, IndexWriter& index,
                                         const PackContents& contents) const override;
};

}  // namespace stoker
