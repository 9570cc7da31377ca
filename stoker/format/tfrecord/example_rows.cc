#include "stoker/format/tfrecord/example_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "stoker/base/error.h"
#include "stoker/format/class_number.h"
#include "stoker/format/image_bytes.h"
#include "stoker/format/key_prefix.h"
#include "stoker/format/member_name.h"
#include "stoker/format/tfrecord/tfrecord_frame.h"

namespace stoker {

const std::vector<std::string_view> kImageFeatures = {"image/encoded", "image",       "encoded", "image_raw",
                                                      "image_bytes",   "image/image", "img",     "picture"};
const std::vector<std::string_view> kLabelFeatures = {"image/class/label", "label", "cls", "class",
                                                      "image/label",       "target"};
const std::vector<std::string_view> kKeyFeatures = {"__key__", "image/filename", "filename", "file_name"};

namespace {

bool is_one_value(const ExampleFeature& feature) {
  return feature.kind == FeatureKind::kBytes && feature.count == 1 && !feature.step;
}

}  // namespace

ExampleRows::ExampleRows(std::string_view file)
    : key_prefix_(key_prefix_of_file(file, {".tfrecord", ".tfrecords"})), usual_image_(kImageFeatures) {}

void ExampleRows::read(Bytes message, const ExamplePlace& place, SampleRow& row) {
  message_ = message;
  place_ = place;
  example_.parse(message);
  if (example_.features().empty() && !message.empty()) {
    fail(ErrorKind::kData, "it has no features, so it is not a tf.train.Example or tf.train.SequenceExample");
  }
  label_ = nullptr;
  set_key(row);
  set_label(row);
  add_fields(row);
}

template <typename Fits>
const ExampleFeature* ExampleRows::find(const std::vector<std::string_view>& names, const Fits& fits) const {
  for (const std::string_view name : names) {
    for (const ExampleFeature& feature : example_.features()) {
      if (!feature.step && is_called(feature.name, name) && fits(feature)) return &feature;
    }
  }
  return nullptr;
}

void ExampleRows::set_key(SampleRow& row) {
  const auto names_something = [&](const ExampleFeature& feature) {
    return is_one_value(feature) && !example_.value(feature, 0).empty();
  };
  const ExampleFeature* const feature = find(kKeyFeatures, names_something);
  has_key_ = feature && feature->name == kKeyFeatures.front();
  if (feature) {
    const std::string_view name = as_text(example_.value(*feature, 0));
    row.key = has_key_ ? std::string(name) : key_of_file(name);
  } else {
    row.key = fmt::format("{}{:08}", key_prefix_, place_.number);
  }
}

void ExampleRows::set_label(SampleRow& row) {
  const ExampleFeature* feature =
      find(kLabelFeatures, [](const ExampleFeature& any) { return any.integer.has_value(); });
  if (feature) {
    row.label = std::max<std::int64_t>(*feature->integer, -1);
    label_ = feature;
  } else if (const ExampleFeature* text = find({"cls"}, is_one_value)) {
    const std::string_view number = as_text(example_.value(*text, 0));
    row.label = parse_class_number(number, number.size()).value_or(-1);
  }
}

void ExampleRows::choose_image() {
  const std::vector<ExampleFeature>& all = example_.features();
  image_values_.clear();
  for (const ExampleFeature& feature : all) {
    const Bytes value = is_one_value(feature) ? example_.value(feature, 0) : Bytes();
    const bool is_usual = std::any_of(kImageFeatures.begin(), kImageFeatures.end(),
                                      [&](std::string_view name) { return is_called(feature.name, name); });
    image_values_.push_back({.name = feature.name,
                             .extension = extension_of_bytes(value),
                             .is_bytes = !value.empty(),
                             .is_other = has_key_ && !is_usual});
  }
  image_ = usual_image_.choose(image_values_);
  image_feature_ = image_.number ? &all[static_cast<std::size_t>(*image_.number)] : nullptr;
}

void ExampleRows::add_fields(SampleRow& row) {
  choose_image();
  for (const ExampleFeature& feature : example_.features()) {
    if (feature.name.empty() || feature.kind == FeatureKind::kNone || feature.count == 0) continue;
    if (&feature == label_ || feature.name == kKeyFeatures.front()) continue;  // the row has them
    if (feature.kind == FeatureKind::kBytes && feature.count <= Example::kValuesMax) {
      add_bytes(row, feature);
    } else if (feature.kind != FeatureKind::kBytes && !feature.packed.empty()) {
      assign_lower_case(name_, feature.name);
      if (feature.step) fmt::format_to(std::back_inserter(name_), ".{}", *feature.step);
      name_ += feature.kind == FeatureKind::kFloats ? ".f32" : ".varint";
      add_field(row, feature.packed);
    } else if (passed_over_++ == 0) {
      first_passed_over_ = fmt::format("'{}' of record {} at byte {}", feature.name, place_.number,
                                       place_.offset - kTfRecordHeaderBytes);
    }
  }
  if (row.fields.empty()) {
    name_ = "example";
    add_field(row, message_);
  }
  // The order of a map's entries means nothing and may change from record to record.
  std::sort(row.fields.begin(), row.fields.end(),
            [](const SampleField& a, const SampleField& b) { return a.name < b.name; });
  const auto twice = std::adjacent_find(row.fields.begin(), row.fields.end(),
                                        [](const SampleField& a, const SampleField& b) { return a.name == b.name; });
  if (twice != row.fields.end()) fail(ErrorKind::kData, "it has two values for the field '{}'", twice->name);
}

void ExampleRows::add_bytes(SampleRow& row, const ExampleFeature& feature) {
  for (std::size_t i = 0; i < feature.count; ++i) {
    const Bytes value = example_.value(feature, i);
    const std::string_view extension = extension_of_bytes(value);
    if (&feature == image_feature_) {
      name_ = image_.extension;
    } else {
      assign_lower_case(name_, feature.name);
      if (feature.step) fmt::format_to(std::back_inserter(name_), ".{}", *feature.step);
      if (feature.count > 1) fmt::format_to(std::back_inserter(name_), ".{}", i);
      const bool says_so = has_key_ || image_.is_missing || is_image_field_name(name_) || name_.ends_with("npy");
      if (!extension.empty() && !says_so) name_.append(".").append(extension);
    }
    add_field(row, value);
  }
}

/// Its name is `name_`.
void ExampleRows::add_field(SampleRow& row, Bytes value) {
  std::replace(name_.begin(), name_.end(), '/', '.');
  const auto begin = static_cast<std::uint64_t>(value.data() - message_.data());
  row.fields.push_back(
      {.name = names_.keep(name_), .part = {}, .offset = place_.offset + begin, .length = value.size()});
}

}  // namespace stoker
