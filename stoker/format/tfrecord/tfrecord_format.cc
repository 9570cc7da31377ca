#include "stoker/format/tfrecord/tfrecord_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/units.h"
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

/// What follows the last "-00000-of-01024" of a name is cut off, and it; nothing if the name does not end so.
std::optional<std::string_view> before_shard_number(std::string_view name) {
  constexpr std::size_t kDigits = 5;
  constexpr std::string_view kOf = "-of-";
  constexpr std::size_t kAll = 1 + kDigits + kOf.size() + kDigits;
  if (name.size() <= kAll) return std::nullopt;
  const std::string_view end = name.substr(name.size() - kAll);
  const auto is_number = [](std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  if (end[0] != '-' || end.substr(1 + kDigits, kOf.size()) != kOf) return std::nullopt;
  if (!is_number(end.substr(1, kDigits)) || !is_number(end.substr(end.size() - kDigits))) return std::nullopt;
  return name.substr(0, name.size() - kAll);
}

bool is_named_as_tfrecord(std::string_view name) {
  if (const auto begin = before_shard_number(name)) name = *begin;
  return name.ends_with(".tfrecord") || name.ends_with(".tfrecords");
}

bool is_one_value(const ExampleFeature& feature) {
  return feature.kind == FeatureKind::kBytes && feature.count == 1 && !feature.step;
}

bool equal_in_lower_case(std::string_view name, std::string_view lower_case) {
  return std::equal(name.begin(), name.end(), lower_case.begin(), lower_case.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b; });
}

}  // namespace

bool TfRecordFormat::is_shard_name(std::string_view name) const {
  return is_named_as_tfrecord(name) || before_shard_number(name).has_value();
}

bool TfRecordFormat::recognises(const ShardCandidate& shard) const {
  if (shard.is_folder()) return false;
  const std::string& name = shard.name();
  if (is_named_as_tfrecord(name)) return true;
  for (const std::string_view ending : {".gz", ".zlib"}) {
    if (name.ends_with(ending))
      return is_named_as_tfrecord(std::string_view(name).substr(0, name.size() - ending.size()));
  }
  const Bytes head = shard.head();
  if (head.size() >= kTfRecordHeaderBytes && read_tfrecord_header(head)) return true;
  return before_shard_number(name) && (is_gzip(head) || is_zlib(head));
}

std::unique_ptr<ShardScan> TfRecordFormat::scan(Source& shard, const std::stop_token& stop) const {
  return std::make_unique<TfRecordSamples>(shard, stop);
}

TfRecordSamples::TfRecordSamples(Source& source, std::stop_token stop)
    : source_(source),
      stop_(std::move(stop)),
      records_(source),
      key_prefix_(key_prefix_of_file(source.name(), {".tfrecord", ".tfrecords"})) {}

bool TfRecordSamples::next(SampleRow& row) {
  row.clear();
  row.source = &source_;
  stop_if_asked(stop_, source_.name());
  if (!records_.next()) return false;
  try {
    example_.parse(records_.data());
    fill(row);
  } catch (const Error& wrong) {
    if (wrong.kind() != ErrorKind::kData) throw;
    fail(ErrorKind::kData, "'{}': {} cannot be used: {}", source_.name(), records_.place(), wrong.message());
  }
  return true;
}

void TfRecordSamples::fill(SampleRow& row) {
  if (example_.features().empty()) {
    fail(ErrorKind::kData, "it has no features, so it is not a tf.train.Example or tf.train.SequenceExample");
  }
  label_ = nullptr;
  set_key(row);
  set_label(row);
  add_fields(row);
}

template <typename Fits>
const ExampleFeature* TfRecordSamples::find(const std::vector<std::string_view>& names, const Fits& fits) const {
  for (const std::string_view name : names) {
    for (const ExampleFeature& feature : example_.features()) {
      if (!feature.step && equal_in_lower_case(feature.name, name) && fits(feature)) return &feature;
    }
  }
  return nullptr;
}

void TfRecordSamples::set_key(SampleRow& row) {
  const auto names_something = [&](const ExampleFeature& feature) {
    return is_one_value(feature) && !example_.value(feature, 0).empty();
  };
  if (const ExampleFeature* feature = find(kKeyFeatures, names_something)) {
    const std::string_view name = as_text(example_.value(*feature, 0));
    const bool is_key = feature->name == kKeyFeatures.front();
    const std::optional<MemberName> file = is_key ? std::nullopt : split_member_name(name);
    row.key = file ? file->key : name;
  } else {
    row.key = fmt::format("{}{:08}", key_prefix_, records_.number());
  }
}

void TfRecordSamples::set_label(SampleRow& row) {
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

const ExampleFeature* TfRecordSamples::image() const {
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
  const auto first = std::find_if(all.begin(), all.end(), begins_as_image);
  if (first == all.end() || std::any_of(first + 1, all.end(), begins_as_image)) return nullptr;
  return &*first;
}

void TfRecordSamples::add_fields(SampleRow& row) {
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
      first_passed_over_ = fmt::format("'{}' of {}", feature.name, records_.place());
    }
  }
  if (row.fields.empty()) {
    name_ = "example";
    add_field(row, records_.data());
  }
  // The order of a map's entries means nothing and may change from record to record.
  std::sort(row.fields.begin(), row.fields.end(),
            [](const SampleField& a, const SampleField& b) { return a.name < b.name; });
  const auto twice = std::adjacent_find(row.fields.begin(), row.fields.end(),
                                        [](const SampleField& a, const SampleField& b) { return a.name == b.name; });
  if (twice != row.fields.end()) fail(ErrorKind::kData, "it has two values for the field '{}'", twice->name);
}

void TfRecordSamples::add_bytes(SampleRow& row, const ExampleFeature& feature, bool is_image) {
  for (std::size_t i = 0; i < feature.count; ++i) {
    const Bytes value = example_.value(feature, i);
    const std::string_view extension = extension_of_bytes(value);
    if (is_image) {
      name_ = extension;
    } else {
      assign_lower_case(name_, feature.name);
      if (feature.step) fmt::format_to(std::back_inserter(name_), ".{}", *feature.step);
      if (feature.count > 1) fmt::format_to(std::back_inserter(name_), ".{}", i);
      const bool says_so = is_image_field_name(name_) || name_.ends_with("npy");
      if (!extension.empty() && !says_so) name_.append(".").append(extension);
    }
    add_field(row, value);
  }
}

/// Its name is `name_`.
void TfRecordSamples::add_field(SampleRow& row, Bytes value) {
  std::replace(name_.begin(), name_.end(), '/', '.');
  auto name = names_.find(name_);
  if (name == names_.end()) name = names_.insert(name_).first;
  const auto begin = static_cast<std::uint64_t>(value.data() - records_.data().data());
  row.fields.push_back({.name = *name, .part = {}, .offset = records_.offset() + begin, .length = value.size()});
}

ShardNotes TfRecordSamples::take_notes() {
  if (passed_over_ == 0) return {};
  return {.problems = {
              fmt::format("'{}': skips {} (lists of more than {} values, or numbers that do not lie together); "
                          "the first is {}",
                          source_.name(), counted(passed_over_, "list"), Example::kValuesMax, first_passed_over_)}};
}

}  // namespace stoker
