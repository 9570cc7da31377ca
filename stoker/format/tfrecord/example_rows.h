// What becomes of a tf.train.Example: its key, its label, and fields with the names that tars would give them.
// docs/formats.md has the rules.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/format/field_names.h"
#include "stoker/format/sample_row.h"
#include "stoker/format/tfrecord/example.h"
#include "stoker/format/usual_image.h"

namespace stoker {

/// The usual names of things in features, in the order in which they are looked for.
extern const std::vector<std::string_view> kImageFeatures, kLabelFeatures, kKeyFeatures;

/// Where an Example lies.
struct ExamplePlace {
  std::uint64_t offset = 0;  // in the file
  std::int64_t number = 0;   // of its record there, from 0
};

/// Threads: one.
class ExampleRows {
 public:
  /// `file`: whose name begins the keys of samples without one.
  explicit ExampleRows(std::string_view file);

  /// Fills `row`, which is clear, except for its source. Throws kData, as a clause that says what is wrong, for a
  /// message that is no Example or has two values for one field, and as FieldNames does. The row's views live as long
  /// as this object.
  void read(Bytes message, const ExamplePlace& place, SampleRow& row);

  /// Lists of values that did not become fields.
  std::int64_t passed_over() const { return passed_over_; }
  const std::string& first_passed_over() const { return first_passed_over_; }  // "'x' of record 17 at byte 4096"

 private:
  void set_key(SampleRow& row);
  void set_label(SampleRow& row);
  void add_fields(SampleRow& row);
  void add_bytes(SampleRow& row, const ExampleFeature& feature);
  void add_field(SampleRow& row, Bytes value);
  /// The first feature of these names that `fits`; null without one.
  template <typename Fits>
  const ExampleFeature* find(const std::vector<std::string_view>& names, const Fits& fits) const;
  void choose_image();

  Example example_;
  Bytes message_;
  ExamplePlace place_;
  std::string key_prefix_;
  FieldNames names_;
  std::string name_;                       // scratch
  const ExampleFeature* label_ = nullptr;  // of the message at hand: the feature that became the row's label
  UsualImage usual_image_;
  UsualImage::Choice image_;  // of the message at hand
  const ExampleFeature* image_feature_ = nullptr;
  std::vector<UsualImage::Value> image_values_;  // scratch
  bool has_key_ = false;                         // it has the feature "__key__", so its features are named as fields
  std::int64_t passed_over_ = 0;
  std::string first_passed_over_;
};

}  // namespace stoker
