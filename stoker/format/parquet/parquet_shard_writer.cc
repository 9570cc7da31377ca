#include "stoker/format/parquet/parquet_shard_writer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
#include "stoker/base/units.h"
#include "stoker/format/column_fields.h"
#include "stoker/format/huggingface_features.h"
#include "stoker/format/index/index_writer.h"
#include "stoker/format/parquet/parquet_rows.h"
#include "stoker/format/parquet/parquet_writer.h"

namespace stoker {
namespace {

constexpr std::string_view kParquetName = "Parquet", kImageBytes = "bytes", kImagePath = "path",
                           kImagePathField = "image.path";

// Far below what a page can have, with room for the levels.
constexpr std::uint64_t kParquetFieldBytesMax = std::uint64_t{512} << 20;

/// The image first: its pages are not held.
std::vector<ParquetLeaf> leaves_of(const PackContents& contents) {
  std::vector<ParquetLeaf> leaves = {
      {.group = std::string(kImageColumn), .name = std::string(kImageBytes)},
      {.group = std::string(kImageColumn), .name = std::string(kImagePath), .is_text = true}};
  if (contents.has_labels()) leaves.push_back({.name = std::string(kLabelColumn), .type = ParquetType::kInt64});
  leaves.push_back({.name = std::string(kKeyColumn), .is_text = true});
  for (const auto& [name, occurrence] : contents.others()) {
    if (name != kImagePathField) leaves.push_back({.name = name, .is_text = is_text_field(name)});
  }
  return leaves;
}

std::vector<HuggingfaceFeature> features_of(const std::vector<ParquetLeaf>& leaves) {
  std::vector<HuggingfaceFeature> features;
  for (const ParquetLeaf& leaf : leaves) {
    using Kind = HuggingfaceFeature::Kind;
    if (leaf.group.empty()) {
      const bool is_label = leaf.type == ParquetType::kInt64;
      features.push_back({leaf.name, is_label ? Kind::kClass : leaf.is_text ? Kind::kText : Kind::kBytes});
    } else if (leaf.name == kImageBytes) {
      features.push_back({leaf.group, Kind::kImage});
    }
  }
  return features;
}

/// The columns as they are read.
ParquetFooter footer_of(const std::vector<ParquetLeaf>& leaves, const std::string& huggingface) {
  ParquetFooter footer{.columns = {}, .groups = {}, .huggingface = huggingface};
  for (const ParquetLeaf& leaf : leaves) {
    std::string name = leaf.group.empty() ? leaf.name : leaf.group;
    if (!leaf.group.empty() && leaf.name != kImageBytes) name.append("/").append(leaf.name);
    footer.columns.push_back(
        {.path = leaf.path(), .name = std::move(name), .type = leaf.type, .definition_max = leaf.definition_max()});
  }
  return footer;
}

class ParquetShardWriter final : public ShardFileWriter {
 public:
  ParquetShardWriter(std::unique_ptr<ObjectWriter> object, IndexWriter& index, std::vector<ParquetLeaf> leaves,
                     const std::string& huggingface, std::vector<std::string> classes)
      : footer_(footer_of(leaves, huggingface)),
        rows_(footer_, object->name()),
        file_(std::move(object), std::move(leaves), huggingface),
        values_(file_.leaves().size()),
        classes_(std::move(classes)),
        index_(index) {}

  void add(SampleRow& row, std::span<const Bytes> fields, Bytes entry_points) override {
    gather_values(row, fields);
    // The reader says what becomes of the row. Its values are told apart by their leaves, since their places are not
    // known before the row group ends.
    for (std::size_t leaf = 0; leaf < values_.size(); ++leaf) show(leaf);
    read_.clear();
    rows_.fill(number_++, read_);
    become_read_row(row, read_, leaves_, kParquetName);
    group_.push_back({row, {entry_points.begin(), entry_points.end()}});
    if (file_.add(values_)) place_group();
  }

  std::uint64_t bytes() const override { return file_.bytes(); }

  FinishedShard finish() override {
    file_.end_group();
    place_group();
    const ParquetWriter::Finished made = file_.finish();
    return {.bytes = made.bytes, .hash = made.hash, .classes = classes_};
  }

 private:
  /// A sample whose fields have their leaves in place of offsets.
  struct Added {
    SampleRow row;
    std::vector<std::uint8_t> entry_points;
  };

  /// By leaf, and which leaf each field became.
  void gather_values(const SampleRow& row, std::span<const Bytes> fields) {
    std::fill(values_.begin(), values_.end(), std::nullopt);
    store_little_endian(label_.data(), static_cast<std::uint64_t>(row.label));
    const SampleField* const image = row.image_field();
    leaves_.clear();
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const SampleField& field = row.fields[i];
      const bool is_label = is_class_number(row, field);
      const std::size_t leaf = is_label ? leaf_of(kLabelColumn) : &field == image ? 0 : leaf_of(field.name);
      if (file_.leaves()[leaf].is_text) require_text(field.name, fields[i], kParquetName);
      if (!is_label) values_[leaf] = fields[i];
      leaves_.push_back(leaf);
    }
    values_[leaf_of(kKeyColumn)] = as_bytes(row.key);
    if (row.label >= 0) values_[leaf_of(kLabelColumn)] = label_;
  }

  std::size_t leaf_of(std::string_view field) const {
    const std::vector<ParquetLeaf>& all = file_.leaves();
    const auto found = std::find_if(all.begin(), all.end(), [&](const ParquetLeaf& leaf) {
      return leaf.group.empty() ? leaf.name == field : leaf.name == kImagePath && field == kImagePathField;
    });
    if (found == all.end()) {
      fail(ErrorKind::kUsage, "it has a field '{}', which no sample appeared to have; choose another format", field);
    }
    return static_cast<std::size_t>(found - all.begin());
  }

  void show(std::size_t leaf) {
    ParquetRowColumn& column = rows_.columns()[leaf];
    column.clear();
    const std::optional<Bytes> value = values_[leaf];
    if (!value) return;
    column.count = 1;
    column.bytes = *value;
    if (column.stored->is_integer()) {
      column.integer = static_cast<std::int64_t>(load_little_endian<std::uint64_t>(value->data()));
    }
    if (!column.is_label) column.add(leaf, *value);
  }

  void place_group() {
    for (std::size_t i = 0; i < group_.size(); ++i) {
      for (SampleField& field : group_[i].row.fields) {
        field.offset = file_.offset_of(i, static_cast<std::size_t>(field.offset));
      }
      index_.add(group_[i].row, group_[i].entry_points);
    }
    group_.clear();
  }

  const ParquetFooter footer_;
  ParquetRows rows_;
  ParquetWriter file_;
  std::vector<std::optional<Bytes>> values_;  // of the sample at hand, by leaf
  const std::vector<std::string> classes_;    // that the footer names
  IndexWriter& index_;
  std::vector<Added> group_;  // of the row group at hand
  std::uint64_t number_ = 0;  // of the next sample
  std::array<std::uint8_t, sizeof(std::int64_t)> label_{};
  // Scratch:
  SampleRow read_;
  std::vector<std::uint64_t> leaves_;
};

}  // namespace

void ParquetWriting::require_fits(const SampleRow& row) const {
  require_fits_columns(row, kParquetName);
  for (const SampleField& field : row.fields) {
    if (field.length <= kParquetFieldBytesMax) continue;
    fail(ErrorKind::kUsage, "its field '{}' has {}, and Parquet files get fields of up to {}", field.name,
         byte_count(field.length), kParquetFieldBytesMax);
  }
}

void ParquetWriting::require_all_fit(const PackContents& contents) const {
  constexpr std::size_t kColumnsOfItsOwn = 4;
  require_all_fit_columns(contents, kParquetName);
  if (contents.others().size() <= ParquetFooter::kColumnsMax - kColumnsOfItsOwn) return;
  fail(ErrorKind::kUsage, "samples have {} fields, and Parquet files get up to {}", contents.others().size(),
       ParquetFooter::kColumnsMax - kColumnsOfItsOwn);
}

std::uint64_t ParquetWriting::bytes_of(const SampleRow& row) const {
  constexpr std::uint64_t kLengthBytes = sizeof(std::uint32_t);
  std::uint64_t bytes = kLengthBytes + row.key.size() + sizeof(std::int64_t);
  for (const SampleField& field : row.fields) {
    if (!is_class_number(row, field)) bytes += kLengthBytes + field.length;
  }
  // A large value has a page to itself.
  const std::uint64_t pages = bytes / ParquetWriterLimits().page_bytes;
  return bytes + pages * 2 * ParquetChunkBuilder::kPageHeaderBytesMax;
}

std::uint64_t ParquetWriting::held_bytes(std::uint64_t shard_bytes) const {
  return std::min(shard_bytes, 2 * ParquetWriterLimits().group_bytes);
}

std::unique_ptr<ShardFileWriter> ParquetWriting::begin(const Stores& stores, const Location& shard, IndexWriter& index,
                                                       const PackContents& contents) const {
  std::vector<ParquetLeaf> leaves = leaves_of(contents);
  const std::string huggingface = huggingface_text(features_of(leaves), contents.classes);
  std::vector<std::string> classes = contents.has_labels() ? contents.classes : std::vector<std::string>();
  return std::make_unique<ParquetShardWriter>(stores.put(shard), index, std::move(leaves), huggingface,
                                              std::move(classes));
}

}  // namespace stoker
