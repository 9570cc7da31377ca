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

bool equal_in_lower_case(std::string_view name, std::string_view lower_case) {
  return std::equal(name.begin(), name.end(), lower_case.begin(), lower_case.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b; });
}

}  // namespace

ExampleRows::ExampleRows(std::string_view file) : key_prefix_(key_prefix_of_file(file, {".tfrecord", ".tfrecords"})) {}

void ExampleRows::read(Bytes message, const ExamplePlace& place, SampleRow& row) {
  message_ = message;
  place_ = place;
  example_.parse(message);
  if (example_.features().empty()) {
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
      if (!feature.step && equal_in_lower_case(feature.name, name) && fits(feature)) return &feature;
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
    const std::optional<MemberName> file = has_key_ ? std::nullopt : split_member_name(name);
    row.key = file ? file->key : name;
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

const ExampleFeature* ExampleRows::image() const {
  const auto begins_as_image = [&](const ExampleFeature& feature) {
    return is_one_value(feature) && !extension_of_bytes(example_.value(feature, 0)).empty();
  };
  const std::vector<ExampleFeature>& all = example_.features();
  // Its name says so itself.
  const auto is_named = [](const ExampleFeature& feature) {
    return is_image_field_name(feature.name) && feature.name.find_first_of("./") == std::string_view::npos;
  };
  if (std::any_of(all.begin(), all.end(), is_named)) return nullptr;
  if (const ExampleFeature* usual = find(kImageFeatures, begins_as_image)) return usual;
  if (has_key_) return nullptr;
  const auto first = std::find_if(all.begin(), all.end(), begins_as_image);
  if (first == all.end() || std::any_of(first + 1, all.end(), begins_as_image)) return nullptr;
  return &*first;
}

void ExampleRows::add_fields(SampleRow& row) {
  const ExampleFeature* const image_feature = image();
  for (const ExampleFeature& feature : example_.features()) {
    if (feature.name.empty() || feature.kind == FeatureKind::kNone || feature.count == 0) continue;
    if (&feature == label_ || feature.name == kKeyFeatures.front()) continue;  // the row has them
    if (feature.kind == FeatureKind::kBytes && feature.count <= Example::kValuesMax) {
      add_bytes(row, feature, &feature == image_feature);
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

void ExampleRows::add_bytes(SampleRow& row, const ExampleFeature& feature, bool is_image) {
  for (std::size_t i = 0; i < feature.count; ++i) {
    const Bytes value = example_.value(feature, i);
    const std::string_view extension = extension_of_bytes(value);
    if (is_image) {
      name_ = extension;
    } else {
      assign_lower_case(name_, feature.name);
      if (feature.step) fmt::format_to(std::back_inserter(name_), ".{}", *feature.step);
      if (feature.count > 1) fmt::format_to(std::back_inserter(name_), ".{}", i);
      const bool says_so = has_key_ || is_image_field_name(name_) || name_.ends_with("npy");
      if (!extension.empty() && !says_so) name_.append(".").append(extension);
    }
    add_field(row, value);
  }
}

/// Its name is `name_`.
void ExampleRows::add_field(SampleRow& row, Bytes value) {
  std::replace(name_.begin(), name_.end(), '/', '.');
  auto name = names_.find(name_);
  if (name == names_.end()) name = names_.insert(name_).first;
  const auto begin = static_cast<std::uint64_t>(value.data() - message_.data());
  row.fields.push_back({.name = *name, .part = {}, .offset = place_.offset + begin, .length = value.size()});
}

}  // namespace stoker
