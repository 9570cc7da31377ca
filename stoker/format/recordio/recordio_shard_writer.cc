#include "stoker/format/recordio/recordio_shard_writer.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/format/image_bytes.h"
#include "stoker/format/index/index_writer.h"
#include "stoker/format/recordio/image_record.h"
#include "stoker/format/recordio/recordio_reader.h"
#include "stoker/format/recordio/recordio_writer.h"

namespace stoker {
namespace {

constexpr std::string_view kLabelsField = "label.f32";

bool is_labels(const SampleRow& row, const SampleField& field) {
  if (is_class_number(row, field)) return true;
  return row.label < 0 && field.name == kLabelsField && field.length > 0 && field.length % sizeof(float) == 0;
}

/// One number in the place of a class is read as such, if it can be one.
void require_no_class(Bytes labels) {
  if (labels.size() != sizeof(float)) return;
  const auto number = std::bit_cast<float>(load_little_endian<std::uint32_t>(labels.data()));
  if (!std::isnan(number) && !class_of_float(number)) return;
  fail(ErrorKind::kUsage,
       "its field '{}' is {}, which readers of RecordIO take for {}, since a record has no names; choose another "
       "format, such as parquet",
       kLabelsField, number, std::isnan(number) ? "no label" : "a class number");
}

class RecordIoShardWriter final : public ShardFileWriter {
 public:
  RecordIoShardWriter(const Stores& stores, const Location& shard, IndexWriter& index)
      : offsets_name_(fmt::format("{}.idx", stem_of(shard))),
        key_prefix_(recordio_key_prefix(shard.name())),
        file_(stores.put(shard)),
        offsets_file_(stores.put(shard.parent() / offsets_name_)),
        index_(index) {}

  void add(SampleRow& row, std::span<const Bytes> fields, Bytes entry_points) override {
    std::array<std::uint8_t, sizeof(float)> label;
    // None: a number would be taken for a class, or for a value to learn.
    const float number = row.label >= 0 ? static_cast<float>(row.label) : std::numeric_limits<float>::quiet_NaN();
    store_little_endian(label.data(), std::bit_cast<std::uint32_t>(number));
    Bytes labels = label;
    std::optional<std::size_t> image;
    for (std::size_t i = 0; i < row.fields.size(); ++i) {
      if (!is_labels(row, row.fields[i])) {
        image = i;
      } else if (row.fields[i].name == kLabelsField) {
        labels = fields[i];
        require_no_class(labels);
      }
    }
    const auto id = static_cast<std::uint64_t>(index_.samples());
    make_image_record(record_, id, labels, fields[*image]);
    const RecordIoWriter::Record written = file_.add(record_);
    fmt::format_to(std::back_inserter(offsets_), "{}\t{}\n", id, written.begin);
    has_splits_ = has_splits_ || written.is_split;
    become_row(row, *image, written.begin + kRecordIoHeaderBytes);
    index_.add(row, entry_points);
  }

  std::uint64_t bytes() const override { return file_.bytes(); }

  FinishedShard finish() override {
    offsets_file_->write(as_bytes(offsets_));
    offsets_file_->commit();
    file_.finish();
    return {.bytes = file_.bytes(), .hash = file_.hash(), .can_be_indexed = !has_splits_, .beside = {offsets_name_}};
  }

 private:
  static std::string stem_of(const Location& shard) {
    const std::string name = shard.name();
    return name.substr(0, name.rfind('.'));
  }

  /// What the reader makes of the record. That of one that was split has no places in the file.
  void become_row(SampleRow& row, std::size_t image, std::uint64_t offset) {
    const SampleField of_image = row.fields[image];
    const bool has_image = row.image_field() != nullptr;
    const SampleField* const known_labels = row.field(kLabelsField);
    const SampleField of_labels = known_labels ? *known_labels : SampleField();
    row.fields.clear();
    const std::size_t length = record_.size();
    fill_image_row(record_, length, *read_image_record(record_, length), offset, key_prefix_, row);
    if (has_image && !row.image_field()) {
      fail(ErrorKind::kUsage,
           "its image '{}' would not be found by readers of recordio, which tell images by their first bytes; choose "
           "another format, or pack with other pixels",
           of_image.name);
    }
    for (SampleField& field : row.fields) field.take_checksums_of(field.name == kLabelsField ? of_labels : of_image);
  }

  const std::string offsets_name_, key_prefix_;
  RecordIoWriter file_;
  std::unique_ptr<ObjectWriter> offsets_file_;
  IndexWriter& index_;
  std::string offsets_;
  std::vector<std::uint8_t> record_;
  bool has_splits_ = false;
};

}  // namespace

void RecordIoWriting::require_fits(const SampleRow& row) const {
  const SampleField* image = row.image_field();
  if (row.label > kImageLabelMax) {
    fail(ErrorKind::kUsage, "its class is {}, and RecordIO has classes up to {}, since labels are floats", row.label,
         kImageLabelMax);
  }
  for (const SampleField& field : row.fields) {
    if (is_labels(row, field)) continue;
    if (!image) image = &field;
    if (&field == image) continue;
    fail(
        ErrorKind::kUsage,
        "besides its image '{}' it has a field '{}', which would be lost, since a record of RecordIO has one image and "
        "labels; choose another format",
        image->name, field.name);
  }
  if (!image || image->length == 0)
    fail(ErrorKind::kUsage, "it has no image, or an empty one, which RecordIO cannot hold");
  if (image->name.find('.') != std::string_view::npos) {
    fail(ErrorKind::kUsage, "its image is named '{}', and RecordIO has no names; choose another format", image->name);
  }
}

std::uint64_t RecordIoWriting::bytes_of(const SampleRow& row) const {
  constexpr std::uint64_t kPadding = 3;
  std::uint64_t bytes = kRecordIoHeaderBytes + kImageHeaderBytes + kPadding;
  for (const SampleField& field : row.fields) {
    if (!is_class_number(row, field)) bytes += field.length;
  }
  return bytes;
}

std::unique_ptr<ShardFileWriter> RecordIoWriting::begin(const Stores& stores, const Location& shard, IndexWriter& index,
                                                        const PackContents& /*contents*/) const {
  return std::make_unique<RecordIoShardWriter>(stores, shard, index);
}

}  // namespace stoker
