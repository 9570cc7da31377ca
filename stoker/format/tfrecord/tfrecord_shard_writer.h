// Packs TFRecord files: a tf.train.Example for each sample, with a feature for each field under the field's name.
#pragma once

#include "stoker/format/shard_file_writer.h"

namespace stoker {

/// "__key__" is the sample's key, and "cls" its label as an integer; "x.f32" becomes the list of floats "x".
class TfRecordWriting final : public WritableFormat {
 public:
  std::string_view name() const override { return "tfrecord"; }
  void require_fits(const SampleRow& row) const override;
  std::uint64_t bytes_of(const SampleRow& row) const override;
  std::unique_ptr<ShardFileWriter> begin(const Stores& stores, const Location& shard, IndexWriter& index,
                                         const PackContents& contents) const override;
};

}  // namespace stoker
