// TFRecord files whose records are tf.train.Example or tf.train.SequenceExample messages: each is one sample. Values
// are located where they lie. docs/formats.md says what becomes of which feature.
#pragma once

#include <memory>
#include <stop_token>

#include "stoker/format/shard_format.h"
#include "stoker/format/tfrecord/example_rows.h"
#include "stoker/format/tfrecord/tfrecord_reader.h"

namespace stoker {

class TfRecordFormat final : public ShardFormat {
 public:
  std::string_view name() const override { return "tfrecord"; }
  /// By the checksum of the first record's length; else by the name, also of compressed files, which scan() refuses
  /// with the reason.
  bool recognises(const ShardCandidate& shard) const override;
  /// "x.tfrecord", "x.tfrecords", "x.tfrecord-00000-of-00010", "train-00000-of-01024".
  bool is_shard_name(std::string_view name) const override;
  std::unique_ptr<ShardScan> scan(Source& shard, const std::stop_token& stop) const override;
  const WritableFormat* writing() const override;
};

/// The samples of a TFRecord file one by one.
class TfRecordSamples final : public ShardScan {
 public:
  /// The source must outlive it.
  explicit TfRecordSamples(Source& source, std::stop_token stop = {});

  /// Replaces `row` by the next sample; false after the last, when every byte has been checked. Throws kData naming the
  /// file and the record when it is damaged, truncated or compressed, or when a record is not an Example or has two
  /// values for one field; kClosed when asked to stop. The row's views live as long as this object.
  bool next(SampleRow& row) override;
  ShardNotes take_notes() override;

 private:
  Source& source_;
  std::stop_token stop_;
  TfRecordReader records_;
  ExampleRows rows_;
};

}  // namespace stoker
