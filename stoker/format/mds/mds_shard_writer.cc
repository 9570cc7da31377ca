#include "stoker/format/mds/mds_shard_writer.h"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/format/column_fields.h"
#include "stoker/format/index/index_writer.h"
#include "stoker/format/mds/mds_format.h"
#include "stoker/format/mds/mds_header.h"
#include "stoker/format/mds/mds_rows.h"
#include "stoker/format/mds/mds_writer.h"

namespace stoker {
namespace {

constexpr std::string_view kMdsName = "MDS";

bool all_named(const std::set<std::string, std::less<>>& images, std::initializer_list<std::string_view> names) {
  return !images.empty() && std::all_of(images.begin(), images.end(), [&](const std::string& image) {
    return std::find(names.begin(), names.end(), image) != names.end();
  });
}

/// Streaming decodes images that are said to be such, by PIL; others it hands out as they are.
std::string image_encoding(const PackContents& contents) {
  if (all_named(contents.images(), {"jpg", "jpeg", "jpe", "jfif"})) return "jpeg";
  return all_named(contents.images(), {"png"}) ? "png" : "bytes";
}

std::vector<MdsColumnSpec> column_specs(const PackContents& contents) {
  std::vector<MdsColumnSpec> columns = {{std::string(kKeyColumn), "str"}};
  if (!contents.images().empty()) columns.push_back({std::string(kImageColumn), image_encoding(contents)});
  if (contents.has_labels()) columns.push_back({std::string(kLabelColumn), "int"});
  for (const auto& [name, occurrence] : contents.others()) {
    columns.push_back({name, is_text_field(name) ? "str" : "bytes"});
  }
  return columns;
}

class MdsShardWriter final : public ShardFileWriter {
 public:
  MdsShardWriter(std::unique_ptr<ObjectWriter> object, IndexWriter& index, const PackContents& contents)
      : name_(object->name()),
        file_(std::move(object), column_specs(contents)),
        rows_(file_.columns(), name_),
        values_(file_.columns().size()),
        index_(index) {}

  void add(SampleRow& row, std::span<const Bytes> fields, Bytes entry_points) override {
    const std::uint64_t begin = file_.bytes() - file_.offset_of_samples();
    const auto number = static_cast<std::int64_t>(file_.samples());
    gather_values(row, fields);
    const Bytes sample = file_.add(values_);
    // The reader says what becomes of the sample.
    read_.clear();
    rows_.read(sample, {.offset = begin, .number = number}, read_);
    locate_fields(row, begin + sample.size());
    become_read_row(row, read_, offsets_, kMdsName);
    added_.push_back({row, {entry_points.begin(), entry_points.end()}});
  }

  std::uint64_t bytes() const override { return file_.bytes(); }

  FinishedShard finish() override {
    for (Added& added : added_) {
      for (SampleField& field : added.row.fields) field.offset += file_.offset_of_samples();
      index_.add(added.row, added.entry_points);
    }
    const std::uint64_t hash = file_.finish();
    return {.bytes = file_.bytes(), .hash = hash};
  }

 private:
  /// A sample whose fields have their places among the samples.
  struct Added {
    SampleRow row;
    std::vector<std::uint8_t> entry_points;
  };

  /// By column, and which column each field became.
  void gather_values(const SampleRow& row, std::span<const Bytes> fields) {
    store_little_endian(label_.data(), static_cast<std::uint64_t>(row.label));
    const SampleField* const image = row.image_field();
    columns_.clear();
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const SampleField& field = row.fields[i];
      const std::size_t column = is_class_number(row, field) ? column_of(kLabelColumn)
                                                             : column_of(&field == image ? kImageColumn : field.name);
      if (file_.columns()[column].encoding == "str") require_text(field.name, fields[i], kMdsName);
      columns_.push_back(column);
      values_[column] = fields[i];
    }
    for (std::size_t column = 0; column < values_.size(); ++column) {
      const std::string& name = file_.columns()[column].name;
      if (name == kKeyColumn) values_[column] = as_bytes(row.key);
      if (name == kLabelColumn && file_.columns()[column].size) values_[column] = label_;
    }
  }

  std::size_t column_of(std::string_view name) const {
    const std::vector<MdsColumn>& columns = file_.columns();
    const auto found = std::find_if(columns.begin(), columns.end(), [&](const auto& one) { return one.name == name; });
    if (found == columns.end()) {
      fail(ErrorKind::kUsage, "it has a field '{}', which no sample appeared to have; choose another format", name);
    }
    return static_cast<std::size_t>(found - columns.begin());
  }

  /// Values stand at the end of their sample, in the order of the columns.
  void locate_fields(const SampleRow& row, std::uint64_t end) {
    begins_.resize(values_.size());
    for (std::size_t column = values_.size(); column-- > 0;) begins_[column] = end -= values_[column].size();
    offsets_.clear();
    for (std::size_t i = 0; i < row.fields.size(); ++i) offsets_.push_back(begins_[columns_[i]]);
  }

  const std::string name_;
  MdsWriter file_;
  MdsRows rows_;
  std::vector<Bytes> values_;  // of the sample at hand
  IndexWriter& index_;
  std::deque<Added> added_;
  std::array<std::uint8_t, sizeof(std::int64_t)> label_{};
  // Scratch:
  SampleRow read_;
  std::vector<std::size_t> columns_;
  std::vector<std::uint64_t> begins_, offsets_;
};

}  // namespace

void MdsWriting::require_fits(const SampleRow& row) const {
  require_fits_columns(row, kMdsName);
  if (row.bytes() + row.key.size() > MdsSamples::kSampleBytesMax / 2) {
    fail(ErrorKind::kUsage, "it has {} bytes, and MDS shards can have samples of up to {}", row.bytes(),
         MdsSamples::kSampleBytesMax / 2);
  }
}

void MdsWriting::require_all_fit(const PackContents& contents) const {
  require_all_fit_columns(contents, kMdsName);
  if (!contents.images().empty() && !contents.first_without_image().empty()) {
    fail(ErrorKind::kUsage,
         "{}: it has no image, which other samples have, and in MDS all samples have the same columns; choose another "
         "format, such as parquet",
         contents.first_without_image());
  }
  for (const auto& [name, occurrence] : contents.others()) {
    if (occurrence.first_without.empty()) continue;
    fail(ErrorKind::kUsage,
         "{}: it has no field '{}', which {} of {} samples have, and in MDS all samples have the same columns; choose "
         "another format, such as parquet",
         occurrence.first_without, name, occurrence.samples, contents.samples());
  }
  if (contents.others().size() + 3 > kMdsColumnsMax) {
    fail(ErrorKind::kUsage, "samples have {} fields, and MDS shards up to {}", contents.others().size(),
         kMdsColumnsMax - 3);
  }
}

std::uint64_t MdsWriting::bytes_of(const SampleRow& row) const {
  constexpr std::uint64_t kSizeBytes = sizeof(std::uint32_t);
  std::uint64_t bytes = kSizeBytes + kSizeBytes + row.key.size() + sizeof(std::int64_t);
  for (const SampleField& field : row.fields) {
    if (!is_class_number(row, field)) bytes += kSizeBytes + field.length;
  }
  return bytes;
}

std::uint64_t MdsWriting::shard_bytes_max() const { return MdsWriter::kShardBytesMax; }

std::uint64_t MdsWriting::held_bytes(std::uint64_t shard_bytes) const {
  return std::min(shard_bytes, shard_bytes_max());
}

std::unique_ptr<ShardFileWriter> MdsWriting::begin(const Stores& stores, const Location& shard, IndexWriter& index,
                                                   const PackContents& contents) const {
  return std::make_unique<MdsShardWriter>(stores.put(shard), index, contents);
}

std::vector<WrittenFile> MdsWriting::files_beside(const PackContents& contents,
                                                  const std::vector<WrittenShard>& shards) const {
  if (shards.empty()) return {};
  std::vector<MdsListedShard> listed;
  listed.reserve(shards.size());
  for (const WrittenShard& shard : shards) {
    listed.push_back({.name = shard.name, .bytes = shard.bytes, .samples = static_cast<std::uint64_t>(shard.samples)});
  }
  return {{.name = "index.json", .content = mds_index(mds_columns(column_specs(contents)), listed)}};
}

}  // namespace stoker
