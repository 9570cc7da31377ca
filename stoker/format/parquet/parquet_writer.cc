#include "stoker/format/parquet/parquet_writer.h"

#include <libdeflate.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "stoker/base/little_endian.h"
#include "stoker/format/parquet/parquet_page.h"
#include "stoker/format/parquet/thrift_writer.h"

namespace stoker {
namespace {

// Numbers of the format.
constexpr std::int32_t kOptional = 1, kConvertedText = 0, kFileVersion = 2;

void append_run(std::vector<std::uint8_t>& levels, std::uint32_t level, std::uint32_t times) {
  std::uint64_t head = std::uint64_t{times} << 1;
  for (; head >= 0x80; head >>= 7) levels.push_back(static_cast<std::uint8_t>(head | 0x80));
  levels.push_back(static_cast<std::uint8_t>(head));
  levels.push_back(static_cast<std::uint8_t>(level));
}

std::string page_header(std::size_t values, Bytes body) {
  ThriftWriter header;
  header.int32(1, static_cast<std::int32_t>(ParquetPageHeader::Kind::kData));
  header.int32(2, static_cast<std::int32_t>(body.size()));
  header.int32(3, static_cast<std::int32_t>(body.size()));
  header.int32(4, static_cast<std::int32_t>(libdeflate_crc32(0, body.data(), body.size())));
  header.begin_struct(5);
  header.int32(1, static_cast<std::int32_t>(values));
  header.int32(2, static_cast<std::int32_t>(ParquetEncoding::kPlain));
  header.int32(3, static_cast<std::int32_t>(ParquetEncoding::kRunLengths));
  header.int32(4, static_cast<std::int32_t>(ParquetEncoding::kRunLengths));
  header.end_struct();
  header.end_struct();
  return header.bytes();
}

}  // namespace

// --- a chunk

void ParquetChunkBuilder::add(std::optional<Bytes> value, bool is_in_group) {
  const std::uint32_t most = leaf_.definition_max();
  const std::uint32_t level = value ? most : is_in_group ? most - 1 : 0;
  if (run_ > 0 && level != level_) end_run();
  level_ = level;
  ++run_;
  if (value && leaf_.type == ParquetType::kByteArray) {
    append_little_endian(values_, static_cast<std::uint32_t>(value->size()));
  }
  offsets_.push_back(values_.size());
  if (value) values_.insert(values_.end(), value->begin(), value->end());
}

void ParquetChunkBuilder::end_run() {
  if (run_ > 0) append_run(levels_, level_, run_);
  run_ = 0;
}

void ParquetChunkBuilder::end_page() {
  if (page_row_ == offsets_.size()) return;
  end_run();
  std::vector<std::uint8_t> body;
  body.reserve(sizeof(std::uint32_t) + levels_.size() + values_.size());
  append_little_endian(body, static_cast<std::uint32_t>(levels_.size()));
  body.insert(body.end(), levels_.begin(), levels_.end());
  const std::size_t values_at = body.size();
  body.insert(body.end(), values_.begin(), values_.end());
  const std::string header = page_header(offsets_.size() - page_row_, body);
  assert(header.size() <= kPageHeaderBytesMax);
  const std::uint64_t begin = taken_ + pages_.size() + header.size() + values_at;
  for (std::size_t row = page_row_; row < offsets_.size(); ++row) offsets_[row] += begin;
  pages_.insert(pages_.end(), header.begin(), header.end());
  pages_.insert(pages_.end(), body.begin(), body.end());
  levels_.clear();
  values_.clear();
  page_row_ = offsets_.size();
}

std::uint64_t ParquetChunkBuilder::bytes() const {
  constexpr std::uint64_t kRunBytesMax = 6;
  return taken_ + pages_.size() + kPageHeaderBytesMax + sizeof(std::uint32_t) + page_bytes() + 2 * kRunBytesMax;
}

std::vector<std::uint8_t> ParquetChunkBuilder::take_pages() {
  taken_ += pages_.size();
  return std::exchange(pages_, {});
}

void ParquetChunkBuilder::clear() {
  pages_.clear();
  offsets_.clear();
  taken_ = page_row_ = 0;
}

// --- the file

ParquetWriter::ParquetWriter(std::unique_ptr<ObjectWriter> object, std::vector<ParquetLeaf> leaves,
                             std::string huggingface, const ParquetWriterLimits& limits)
    : object_(std::move(object)),
      leaves_(std::move(leaves)),
      huggingface_(std::move(huggingface)),
      limits_(limits),
      builders_(leaves_.begin(), leaves_.end()) {
  constexpr std::uint64_t kChunkFactsBytesMax = 96;  // of five numbers, and what their struct has besides the path
  constexpr std::uint64_t kGroupFactsBytesMax = 40;
  footer_bytes_ = footer().size() + kGroupFactsBytesMax;
  group_footer_bytes_ = kGroupFactsBytesMax;
  for (const ParquetLeaf& leaf : leaves_) group_footer_bytes_ += kChunkFactsBytesMax + leaf.path().size();
  write(as_bytes(kParquetMagic));
  group_begin_ = written_;
}

void ParquetWriter::write(Bytes bytes) {
  object_->write(bytes);
  hasher_.update(bytes);
  written_ += bytes.size();
}

bool ParquetWriter::is_in_group(std::size_t leaf, std::span<const std::optional<Bytes>> values) const {
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    if (leaves_[i].group == leaves_[leaf].group && values[i]) return true;
  }
  return false;
}

bool ParquetWriter::add(std::span<const std::optional<Bytes>> values) {
  assert(values.size() == leaves_.size());
  if (std::exchange(group_has_ended_, false)) {
    for (ParquetChunkBuilder& builder : builders_) builder.clear();
    group_rows_ = 0;
    group_begin_ = written_;
  }
  std::uint64_t group_bytes = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    ParquetChunkBuilder& builder = builders_[i];
    builder.add(values[i], !leaves_[i].group.empty() && is_in_group(i, values));
    if (builder.page_bytes() >= limits_.page_bytes) builder.end_page();
    if (i == 0) write(builder.take_pages());
    group_bytes += builder.bytes();
  }
  ++rows_;
  ++group_rows_;
  if (group_rows_ >= limits_.rows || group_bytes >= limits_.group_bytes) end_group();
  return group_has_ended_;
}

void ParquetWriter::end_group() {
  if (group_has_ended_ || group_rows_ == 0) return;
  Group group{.rows = group_rows_, .chunks = {}};
  for (std::size_t i = 0; i < builders_.size(); ++i) {
    const std::uint64_t begin = i == 0 ? group_begin_ : written_;
    builders_[i].end_page();
    write(builders_[i].take_pages());
    group.chunks.push_back({.begin = begin, .bytes = written_ - begin});
  }
  groups_.push_back(std::move(group));
  group_has_ended_ = true;
}

std::uint64_t ParquetWriter::offset_of(std::size_t row_in_group, std::size_t leaf) const {
  assert(group_has_ended_);
  return groups_.back().chunks[leaf].begin + builders_[leaf].offset_of(row_in_group);
}

std::uint64_t ParquetWriter::bytes() const {
  std::uint64_t bytes = written_;
  for (std::size_t i = 0; i < builders_.size(); ++i) {
    if (group_has_ended_) {
      bytes += ParquetChunkBuilder(leaves_[i]).bytes();
    } else {
      bytes += builders_[i].bytes() - (i == 0 ? written_ - group_begin_ : 0);
    }
  }
  const std::uint64_t groups = groups_.size() + 1;
  return bytes + footer_bytes_ + groups * group_footer_bytes_ + sizeof(std::uint32_t) + kParquetMagic.size();
}

/// A group's leaves stand together, in front of them the group.
void ParquetWriter::write_schema(ThriftWriter& footer) const {
  const auto same_group = [&](std::size_t begin) {
    std::size_t end = begin + 1;
    while (!leaves_[begin].group.empty() && end < leaves_.size() && leaves_[end].group == leaves_[begin].group) ++end;
    return end - begin;
  };
  std::int32_t top = 0, groups = 0;
  for (std::size_t i = 0; i < leaves_.size(); i += same_group(i)) {
    ++top;
    groups += leaves_[i].group.empty() ? 0 : 1;
  }
  footer.begin_list(2, ThriftType::kStruct, 1 + leaves_.size() + static_cast<std::size_t>(groups));
  footer.begin_element();
  footer.binary(4, "schema");
  footer.int32(5, top);
  footer.end_struct();
  std::string_view group;
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    const ParquetLeaf& leaf = leaves_[i];
    if (!leaf.group.empty() && leaf.group != group) {
      footer.begin_element();
      footer.int32(3, kOptional);
      footer.binary(4, leaf.group);
      footer.int32(5, static_cast<std::int32_t>(same_group(i)));
      footer.end_struct();
    }
    group = leaf.group;
    footer.begin_element();
    footer.int32(1, static_cast<std::int32_t>(leaf.type));
    footer.int32(3, kOptional);
    footer.binary(4, leaf.name);
    if (leaf.is_text) {
      footer.int32(6, kConvertedText);
      footer.begin_struct(10);  // the same as a logical type
      footer.begin_struct(1);
      footer.end_struct();
      footer.end_struct();
    }
    footer.end_struct();
  }
}

void ParquetWriter::write_group(ThriftWriter& footer, const Group& group) const {
  std::int64_t bytes = 0;
  for (const Chunk& chunk : group.chunks) bytes += static_cast<std::int64_t>(chunk.bytes);
  footer.begin_element();
  footer.begin_list(1, ThriftType::kStruct, leaves_.size());
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    const ParquetLeaf& leaf = leaves_[i];
    const Chunk& chunk = group.chunks[i];
    footer.begin_element();
    footer.int64(2, 0);
    footer.begin_struct(3);
    footer.int32(1, static_cast<std::int32_t>(leaf.type));
    footer.begin_list(2, ThriftType::kI32, 2);
    footer.int32_element(static_cast<std::int32_t>(ParquetEncoding::kPlain));
    footer.int32_element(static_cast<std::int32_t>(ParquetEncoding::kRunLengths));
    footer.begin_list(3, ThriftType::kBinary, leaf.group.empty() ? 1 : 2);
    if (!leaf.group.empty()) footer.binary_element(leaf.group);
    footer.binary_element(leaf.name);
    footer.int32(4, static_cast<std::int32_t>(ParquetCodec::kUncompressed));
    footer.int64(5, static_cast<std::int64_t>(group.rows));
    footer.int64(6, static_cast<std::int64_t>(chunk.bytes));
    footer.int64(7, static_cast<std::int64_t>(chunk.bytes));
    footer.int64(9, static_cast<std::int64_t>(chunk.begin));
    footer.end_struct();
    footer.end_struct();
  }
  footer.int64(2, bytes);
  footer.int64(3, static_cast<std::int64_t>(group.rows));
  footer.end_struct();
}

std::string ParquetWriter::footer() const {
  ThriftWriter footer;
  footer.int32(1, kFileVersion);
  write_schema(footer);
  footer.int64(3, static_cast<std::int64_t>(rows_));
  footer.begin_list(4, ThriftType::kStruct, groups_.size());
  for (const Group& group : groups_) write_group(footer, group);
  footer.begin_list(5, ThriftType::kStruct, 1);
  footer.begin_element();
  footer.binary(1, "huggingface");
  footer.binary(2, huggingface_);
  footer.end_struct();
  footer.binary(6, "stoker");
  footer.end_struct();
  return footer.bytes();
}

ParquetWriter::Finished ParquetWriter::finish() {
  end_group();
  const std::string text = footer();
  write(as_bytes(text));
  std::vector<std::uint8_t> end;
  append_little_endian(end, static_cast<std::uint32_t>(text.size()));
  write(end);
  write(as_bytes(kParquetMagic));
  object_->commit();
  return {.bytes = written_, .hash = hasher_.digest()};
}

}  // namespace stoker
