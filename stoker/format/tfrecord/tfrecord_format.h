// TFRecord files whose records are tf.train.Example or tf.train.SequenceExample messages: each is one sample. Values
// are located where they lie. docs/formats.md says what becomes of which feature.
#pragma once

#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/format/shard_format.h"
#include "stoker/format/tfrecord/example.h"
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
};

/// The usual names of things in features, in the order in which they are looked for.
extern const std::vector<std::string_view> kImageFeatures, kLabelFeatures, kKeyFeatures;

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
  void fill(SampleRow& row);
  void set_key(SampleRow& row);
  void set_label(SampleRow& row);
  void add_fields(SampleRow& row);
  void add_bytes(SampleRow& row, const ExampleFeature& feature, bool is_image);
  void add_field(SampleRow& row, Bytes value);
  /// The first feature of these names that `fits`; null without one.
  template <typename Fits>
  const ExampleFeature* find(const std::vector<std::string_view>& names, const Fits& fits) const;
  const ExampleFeature* image() const;

  Source& source_;
  std::stop_token stop_;
  TfRecordReader records_;
  Example example_;
  std::string key_prefix_;
  std::set<std::string, std::less<>> names_;  // of fields: rows have views of them
  std::string name_;                          // scratch
  const ExampleFeature* label_ = nullptr;     // of the record at hand: the feature that became the row's label
  std::int64_t passed_over_ = 0;              // lists of values
  std::string first_passed_over_;
};

}  // namespace stoker
