#include "stoker/format/index/index_block.h"

#include <cassert>
#include <limits>

#include "stoker/base/error.h"

namespace stoker {
namespace {

constexpr std::size_t kHeadBytes = 16;

std::uint32_t narrow(std::size_t value) {
  if (value > std::numeric_limits<std::uint32_t>::max()) {
    fail(ErrorKind::kLimit, "the keys or fields of 256 consecutive samples are larger than an index can hold (4 GiB)");
  }
  return static_cast<std::uint32_t>(value);
}

void require(bool holds, std::string_view what) {
  if (!holds) fail(ErrorKind::kData, "a block of the index is damaged: {}", what);
}

}  // namespace

// --- writing

void IndexBlockBuilder::add(const SampleRow& row, std::span<const std::uint16_t> names,
                            std::size_t entry_points_bytes) {
  assert(names.size() == row.fields.size() && rows() < kRowsPerBlock);
  const ImageFacts facts = row.facts.value_or(ImageFacts{.orientation = 0, .chroma_across = 0, .chroma_down = 0});
  keys_ += row.key;
  columns_.labels.push_back(row.label);
  columns_.key_ends.push_back(narrow(keys_.size()));
  columns_.widths.push_back(static_cast<std::uint32_t>(facts.width));
  columns_.heights.push_back(static_cast<std::uint32_t>(facts.height));
  const auto byte = [](auto value) { return static_cast<std::uint8_t>(value); };
  columns_.codecs.push_back(byte(facts.codec));
  columns_.components.push_back(byte(facts.components));
  columns_.bits.push_back(row.facts ? byte(facts.bits_per_component) : 0);
  columns_.orientations.push_back(facts.orientation);
  columns_.chroma.push_back(byte(facts.chroma_across << 4 | facts.chroma_down));
  columns_.codings.push_back(byte(facts.coding));
  columns_.colors.push_back(byte(facts.colors));
  columns_.soundness.push_back(byte(row.soundness));
  for (std::size_t i = 0; i < row.fields.size(); ++i) {
    const SampleField& field = row.fields[i];
    columns_.offsets.push_back(field.offset);
    columns_.lengths.push_back(field.length);
    columns_.crcs.push_back(field.crc32c ? *field.crc32c : field.crc32.value_or(0));
    columns_.names.push_back(names[i]);
    const auto crcs = row.chunk_crcs.begin() + field.first_chunk;
    columns_.chunk_crcs.insert(columns_.chunk_crcs.end(), crcs, crcs + field.chunks);
    columns_.chunk_ends.push_back(narrow(columns_.chunk_crcs.size()));
  }
  columns_.field_ends.push_back(narrow(columns_.offsets.size()));
  const std::uint64_t before = columns_.entry_points_ends.empty() ? 0 : columns_.entry_points_ends.back();
  columns_.entry_points_ends.push_back(narrow(before + entry_points_bytes));
}

void IndexBlockBuilder::take(std::vector<std::uint8_t>& into) {
  for (const std::size_t count :
       {columns_.labels.size(), columns_.offsets.size(), columns_.chunk_crcs.size(), keys_.size()}) {
    append_little_endian(into, narrow(count));
  }
  const auto take_column = [&into](auto& column) {
    for (const auto value : column) append_little_endian(into, value);
    column.clear();
  };
  columns_.for_each(take_column, take_column, take_column);
  into.insert(into.end(), keys_.begin(), keys_.end());
  keys_.clear();
}

// --- reading

IndexBlock::IndexBlock(Bytes bytes, std::int64_t rows, const IndexLimits& limits)
    : rows_(rows), has_checksums_(limits.has_checksums), has_crc32_(limits.has_crc32) {
  require(bytes.size() >= kHeadBytes, "it is too short");
  const auto row_count = load_little_endian<std::uint32_t>(bytes.data());
  fields_ = load_little_endian<std::uint32_t>(bytes.data() + 4);
  chunks_ = load_little_endian<std::uint32_t>(bytes.data() + 8);
  text_bytes_ = load_little_endian<std::uint32_t>(bytes.data() + 12);
  require(row_count == rows, "it has another number of rows");
  std::uint64_t end = kHeadBytes;
  const auto columns_of = [&](std::uint64_t count) {
    return [&, count]<typename Integer>(Stored<Integer>& column) {
      if (end <= bytes.size()) column.first = bytes.data() + end;
      end += count * sizeof(Integer);
    };
  };
  columns_.for_each(columns_of(row_count), columns_of(fields_), columns_of(chunks_));
  require(bytes.size() == end + text_bytes_, "its length does not fit its rows");
  text_ = bytes.data() + end;
  check_rows(limits);
  check_fields(limits);
  check_sums();
}

void IndexBlock::check_rows(const IndexLimits& limits) const {
  std::uint32_t key_end = 0, field_end = 0, entry_points_end = 0;
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows_); ++row) {
    const std::uint32_t next_key = columns_.key_ends[row], next_field = columns_.field_ends[row];
    require(next_key >= key_end && next_key <= text_bytes_, "a key is outside its text");
    require(next_field >= field_end && next_field <= fields_, "a sample has fields that are not there");
    const std::uint32_t next_entry_points = columns_.entry_points_ends[row];
    require(next_entry_points >= entry_points_end, "a sample has entry points that are not there");
    key_end = next_key;
    field_end = next_field;
    entry_points_end = next_entry_points;
    require(columns_.labels[row] >= -1, "a label is negative");
    require(columns_.codecs[row] <= static_cast<std::uint8_t>(kLastCodec), "a codec is unknown");
    require(columns_.codings[row] <= static_cast<std::uint8_t>(JpegCoding::kArithmetic), "a JPEG's coding is unknown");
    require(columns_.colors[row] <= static_cast<std::uint8_t>(JpegColors::kYcck), "a JPEG's colours are unknown");
    require(columns_.soundness[row] <= static_cast<std::uint8_t>(Soundness::kBad), "a sample's soundness is unknown");
    constexpr std::uint32_t kMost = std::numeric_limits<int>::max();
    require(columns_.widths[row] <= kMost && columns_.heights[row] <= kMost, "an image is too large");
    if (columns_.codecs[row] == 0) continue;  // nothing is known of its image
    require(columns_.orientations[row] >= 1 && columns_.orientations[row] <= 8, "an orientation is unknown");
    require(columns_.widths[row] >= 1 && columns_.heights[row] >= 1, "an image has no pixels");
    require(columns_.components[row] >= 1 && columns_.chroma[row] >> 4 >= 1 && (columns_.chroma[row] & 15) >= 1,
            "an image's components are unknown");
  }
  require(key_end == text_bytes_ && field_end == fields_, "its columns do not end together");
  require(entry_points_end == limits.entry_points_bytes, "a sample has entry points that are not there");
}

void IndexBlock::check_fields(const IndexLimits& limits) const {
  std::uint32_t chunk_end = 0;
  for (std::size_t field = 0; field < fields_; ++field) {
    const std::uint64_t offset = columns_.offsets[field], length = columns_.lengths[field];
    require(offset <= limits.data_bytes && length <= limits.data_bytes - offset, "a field is outside its shard");
    require(columns_.names[field] < limits.names, "a field has no name");
    const std::uint32_t next_chunk = columns_.chunk_ends[field];
    require(next_chunk >= chunk_end && next_chunk <= chunks_, "a field has checksums that are not there");
    const std::uint64_t whole = (length + kChunkBytes - 1) / kChunkBytes;
    require(next_chunk == chunk_end || next_chunk - chunk_end == whole, "a field has too few checksums");
    chunk_end = next_chunk;
  }
  require(chunk_end == chunks_, "its checksums do not end together");
}

// What adds up a sample's bytes relies on it. Its rows' fields are there.
void IndexBlock::check_sums() const {
  std::size_t field = 0;
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows_); ++row) {
    std::uint64_t left = std::numeric_limits<std::int64_t>::max();
    for (; field < columns_.field_ends[row]; ++field) {
      require(columns_.lengths[field] <= left, "a sample's fields have more bytes than can be counted");
      left -= columns_.lengths[field];
    }
  }
}

void IndexBlock::read(std::int64_t row, std::span<const std::string> names, SampleRow& into) const {
  assert(row >= 0 && row < rows_);
  const auto i = static_cast<std::size_t>(row);
  into.clear();
  const std::uint32_t key_begin = columns_.key_ends.begin_of(i);
  into.key.assign(reinterpret_cast<const char*>(text_) + key_begin, columns_.key_ends[i] - key_begin);
  into.label = columns_.labels[i];
  into.soundness = static_cast<Soundness>(columns_.soundness[i]);
  if (columns_.codecs[i] != 0) {
    into.facts = ImageFacts{.codec = static_cast<Codec>(columns_.codecs[i]),
                            .width = static_cast<int>(columns_.widths[i]),
                            .height = static_cast<int>(columns_.heights[i]),
                            .components = columns_.components[i],
                            .bits_per_component = columns_.bits[i],
                            .orientation = columns_.orientations[i],
                            .coding = static_cast<JpegCoding>(columns_.codings[i]),
                            .colors = static_cast<JpegColors>(columns_.colors[i]),
                            .chroma_across = columns_.chroma[i] >> 4,
                            .chroma_down = columns_.chroma[i] & 15};
  }
  into.entry_points.offset = columns_.entry_points_ends.begin_of(i);
  into.entry_points.length = columns_.entry_points_ends[i] - into.entry_points.offset;
  for (std::uint32_t f = columns_.field_ends.begin_of(i); f < columns_.field_ends[i]; ++f) {
    const std::uint32_t chunk_begin = columns_.chunk_ends.begin_of(f);
    SampleField field{.name = names[columns_.names[f]],
                      .part = {},
                      .offset = columns_.offsets[f],
                      .length = columns_.lengths[f],
                      .first_chunk = static_cast<std::uint32_t>(into.chunk_crcs.size()),
                      .chunks = columns_.chunk_ends[f] - chunk_begin};
    if (has_checksums_) field.crc32c = columns_.crcs[f];
    if (has_crc32_) field.crc32 = columns_.crcs[f];
    for (std::uint32_t chunk = 0; chunk < field.chunks; ++chunk) {
      into.chunk_crcs.push_back(columns_.chunk_crcs[chunk_begin + chunk]);
    }
    into.fields.push_back(field);
  }
}

}  // namespace stoker
