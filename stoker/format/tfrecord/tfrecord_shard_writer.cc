#include "stoker/format/tfrecord/tfrecord_shard_writer.h"

#include <algorithm>
#include <cassert>
#include <optional>

#include "stoker/base/error.h"
#include "stoker/format/index/index_writer.h"
#include "stoker/format/member_name.h"
#include "stoker/format/tfrecord/example_rows.h"
#include "stoker/format/tfrecord/tfrecord_frame.h"
#include "stoker/format/tfrecord/tfrecord_reader.h"
#include "stoker/format/tfrecord/tfrecord_writer.h"

namespace stoker {
namespace {

constexpr std::string_view kKeyFeature = "__key__", kClassFeature = "cls", kFloatsEnding = ".f32";

/// The name of the list of floats that a field becomes; nothing for one that becomes a byte string.
std::optional<std::string_view> floats_name(const SampleRow& row, const SampleField& field) {
  if (!field.name.ends_with(kFloatsEnding) || field.length == 0 || field.length % sizeof(float) != 0) {
    return std::nullopt;
  }
  const std::string_view name = field.name.substr(0, field.name.size() - kFloatsEnding.size());
  if (name.empty() || name == kKeyFeature || name == kClassFeature || row.field(name)) return std::nullopt;
  return name;
}

class TfRecordShardWriter final : public ShardFileWriter {
 public:
  TfRecordShardWriter(std::unique_ptr<ObjectWriter> object, IndexWriter& index)
      : rows_(object->name()), file_(std::move(object)), index_(index) {}

  void add(SampleRow& row, std::span<const Bytes> fields, Bytes entry_points) override {
    const Bytes message = message_of(row, fields);
    if (message.size() > TfRecordReader::kRecordBytesMax) {
      fail(ErrorKind::kLimit, "as a record it has {} bytes; TFRecord files have records of up to {}", message.size(),
           TfRecordReader::kRecordBytesMax);
    }
    const std::uint64_t offset = file_.add(message);
    // The reader says what becomes of the message.
    written_ = row;
    row.fields.clear();
    row.label = -1;
    rows_.read(message, {.offset = offset, .number = index_.samples()}, row);
    take_checksums(row);
    index_.add(row, entry_points);
  }

  std::uint64_t bytes() const override { return file_.bytes(); }

  FinishedShard finish() override {
    file_.finish();
    return {.bytes = file_.bytes(), .hash = file_.hash()};
  }

 private:
  Bytes message_of(const SampleRow& row, std::span<const Bytes> fields) {
    example_.clear();
    example_.add_bytes(kKeyFeature, {as_bytes(row.key)});
    for (std::size_t i = 0; i < row.fields.size(); ++i) {
      const SampleField& field = row.fields[i];
      if (is_class_number(row, field)) continue;
      if (const auto name = floats_name(row, field)) {
        example_.add_packed_floats(*name, fields[i]);
      } else {
        example_.add_bytes(field.name, {fields[i]});
      }
    }
    if (row.label >= 0 || row.says_unknown) example_.add_integers(kClassFeature, {row.label});
    return example_.message();
  }

  /// Of the fields of `written_`, which it has in another order, and with names of the reader's.
  void take_checksums(SampleRow& row) const {
    for (SampleField& field : row.fields) {
      const SampleField* const known = written_.field(field.name);
      if (!known || known->length != field.length) {
        fail(ErrorKind::kUsage,
             "the field '{}' would be read back as '{}', since TFRecord's readers tell the picture by usual names; "
             "rename "
             "the field",
             name_that_changes(row), field.name);
      }
      field.take_checksums_of(*known);
    }
  }

  std::string_view name_that_changes(const SampleRow& row) const {
    for (const SampleField& field : written_.fields) {
      if (!is_class_number(written_, field) && !row.field(field.name)) return field.name;
    }
    return {};
  }

  ExampleRows rows_;
  TfRecordWriter file_;
  IndexWriter& index_;
  ExampleBuilder example_;
  SampleRow written_;
};

}  // namespace

void TfRecordWriting::require_fits(const SampleRow& row) const {
  if (row.key.empty()) fail(ErrorKind::kUsage, "it has no key, by which TFRecord files tell samples apart");
  if (row.field(kKeyFeature)) {
    fail(ErrorKind::kUsage, "it has a field '{}', which in a TFRecord file is the sample's key; rename the field",
         kKeyFeature);
  }
  const bool has_value = std::any_of(row.fields.begin(), row.fields.end(),
                                     [&](const SampleField& field) { return !is_class_number(row, field); });
  if (!has_value) {
    fail(ErrorKind::kUsage,
         "it has no field besides its class, and readers of TFRecord files take such a record for data of another "
         "kind; leave the sample out, or choose another format, such as parquet");
  }
  const bool has_plain_image = std::any_of(row.fields.begin(), row.fields.end(), [](const SampleField& field) {
    return is_image_field_name(field.name) && field.name.find('.') == std::string_view::npos;
  });
  for (const SampleField& field : row.fields) {
    if (field.name.find('/') != std::string_view::npos) {
      fail(ErrorKind::kUsage, "the name of its field '{}' has a slash, which is read back as a dot; rename the field",
           field.name);
    }
    if (has_plain_image ||
        std::find(kImageFeatures.begin(), kImageFeatures.end(), field.name) == kImageFeatures.end()) {
      continue;
    }
    fail(ErrorKind::kUsage,
         "its field '{}' has a name that readers of TFRecord files take for the picture's; rename the field",
         field.name);
  }
}

std::uint64_t TfRecordWriting::bytes_of(const SampleRow& row) const {
  constexpr std::uint64_t kFeatureBytes = 32;  // tags and lengths of the messages around a value: at most
  std::uint64_t bytes = kTfRecordHeaderBytes + kTfRecordFooterBytes;
  const auto add = [&](std::string_view name, std::uint64_t length) { bytes += kFeatureBytes + name.size() + length; };
  add(kKeyFeature, row.key.size());
  if (row.label >= 0 || row.says_unknown) add(kClassFeature, sizeof row.label);
  for (const SampleField& field : row.fields) {
    if (!is_class_number(row, field)) add(field.name, field.length);
  }
  return bytes;
}

std::unique_ptr<ShardFileWriter> TfRecordWriting::begin(const Stores& stores, const Location& shard, IndexWriter& index,
                                                        const PackContents& /*contents*/) const {
  return std::make_unique<TfRecordShardWriter>(stores.put(shard), index);
}

}  // namespace stoker
