#include "stoker/format/index/index_block.h"

#include <cassert>
#include <limits>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"

namespace stoker {
namespace {

constexpr std::size_t kHeadBytes = 16;
constexpr std::size_t kBytesPerRow = 8 + 5 * 4 + 8;
constexpr std::size_t kBytesPerField = 8 + 8 + 4 + 4 + 2;

template <typename Integer>
void append_column(std::vector<std::uint8_t>& into, std::vector<Integer>& column) {
  for (const Integer value : column) append_little_endian(into, value);
  column.clear();
}

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
  labels_.push_back(row.label);
  key_ends_.push_back(narrow(keys_.size()));
  widths_.push_back(static_cast<std::uint32_t>(facts.width));
  heights_.push_back(static_cast<std::uint32_t>(facts.height));
  const auto byte = [](auto value) { return static_cast<std::uint8_t>(value); };
  codecs_.push_back(byte(facts.codec));
  components_.push_back(byte(facts.components));
  bits_.push_back(row.facts ? byte(facts.bits_per_component) : 0);
  orientations_.push_back(facts.orientation);
  chroma_.push_back(byte(facts.chroma_across << 4 | facts.chroma_down));
  codings_.push_back(byte(facts.coding));
  colors_.push_back(byte(facts.colors));
  soundness_.push_back(byte(row.soundness));
  for (std::size_t i = 0; i < row.fields.size(); ++i) {
    const SampleField& field = row.fields[i];
    offsets_.push_back(field.offset);
    lengths_.push_back(field.length);
    crcs_.push_back(field.crc32c.value_or(0));
    names_.push_back(names[i]);
    const auto crcs = row.chunk_crcs.begin() + field.first_chunk;
    chunk_crcs_.insert(chunk_crcs_.end(), crcs, crcs + field.chunks);
    chunk_ends_.push_back(narrow(chunk_crcs_.size()));
  }
  field_ends_.push_back(narrow(offsets_.size()));
  const std::uint64_t before = entry_points_ends_.empty() ? 0 : entry_points_ends_.back();
  entry_points_ends_.push_back(narrow(before + entry_points_bytes));
}

void IndexBlockBuilder::take(std::vector<std::uint8_t>& into) {
  append_little_endian(into, narrow(labels_.size()));
  append_little_endian(into, narrow(offsets_.size()));
  append_little_endian(into, narrow(chunk_crcs_.size()));
  append_little_endian(into, narrow(keys_.size()));
  append_column(into, labels_);
  append_column(into, key_ends_);
  append_column(into, field_ends_);
  append_column(into, widths_);
  append_column(into, heights_);
  append_column(into, entry_points_ends_);
  append_column(into, codecs_);
  append_column(into, components_);
  append_column(into, bits_);
  append_column(into, orientations_);
  append_column(into, chroma_);
  append_column(into, codings_);
  append_column(into, colors_);
  append_column(into, soundness_);
  append_column(into, offsets_);
  append_column(into, lengths_);
  append_column(into, crcs_);
  append_column(into, chunk_ends_);
  append_column(into, names_);
  append_column(into, chunk_crcs_);
  into.insert(into.end(), keys_.begin(), keys_.end());
  keys_.clear();
}

// --- reading

template <typename Integer>
Integer IndexBlock::at(const std::uint8_t* column, std::size_t i) const {
  return load_little_endian<Integer>(column + i * sizeof(Integer));
}

IndexBlock::IndexBlock(Bytes bytes, std::int64_t rows, const IndexLimits& limits)
    : rows_(rows), has_checksums_(limits.has_checksums) {
  require(bytes.size() >= kHeadBytes, "it is too short");
  const auto row_count = load_little_endian<std::uint32_t>(bytes.data());
  fields_ = load_little_endian<std::uint32_t>(bytes.data() + 4);
  chunks_ = load_little_endian<std::uint32_t>(bytes.data() + 8);
  text_bytes_ = load_little_endian<std::uint32_t>(bytes.data() + 12);
  require(row_count == rows, "it has another number of rows");
  const std::uint64_t expected = kHeadBytes + std::uint64_t{row_count} * kBytesPerRow +
                                 std::uint64_t{fields_} * kBytesPerField + std::uint64_t{chunks_} * 4 + text_bytes_;
  require(bytes.size() == expected, "its length does not fit its rows");

  const std::uint8_t* next = bytes.data() + kHeadBytes;
  const auto column = [&next](std::size_t count, std::size_t each) {
    const std::uint8_t* begin = next;
    next += count * each;
    return begin;
  };
  labels_ = column(row_count, 8);
  key_ends_ = column(row_count, 4);
  field_ends_ = column(row_count, 4);
  widths_ = column(row_count, 4);
  heights_ = column(row_count, 4);
  entry_points_ends_ = column(row_count, 4);
  codecs_ = column(row_count, 1);
  components_ = column(row_count, 1);
  bits_ = column(row_count, 1);
  orientations_ = column(row_count, 1);
  chroma_ = column(row_count, 1);
  codings_ = column(row_count, 1);
  colors_ = column(row_count, 1);
  soundness_ = column(row_count, 1);
  offsets_ = column(fields_, 8);
  lengths_ = column(fields_, 8);
  crcs_ = column(fields_, 4);
  chunk_ends_ = column(fields_, 4);
  names_ = column(fields_, 2);
  chunk_crcs_ = column(chunks_, 4);
  text_ = next;
  check(limits);
}

void IndexBlock::check(const IndexLimits& limits) const {
  std::uint32_t key_end = 0, field_end = 0, chunk_end = 0, entry_points_end = 0;
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows_); ++row) {
    const auto next_key = at<std::uint32_t>(key_ends_, row), next_field = at<std::uint32_t>(field_ends_, row);
    require(next_key >= key_end && next_key <= text_bytes_, "a key is outside its text");
    require(next_field >= field_end && next_field <= fields_, "a sample has fields that are not there");
    const auto next_entry_points = at<std::uint32_t>(entry_points_ends_, row);
    require(next_entry_points >= entry_points_end, "a sample has entry points that are not there");
    key_end = next_key;
    field_end = next_field;
    entry_points_end = next_entry_points;
    require(at<std::int64_t>(labels_, row) >= -1, "a label is negative");
    require(codecs_[row] <= static_cast<std::uint8_t>(Codec::kRaw), "a codec is unknown");
    require(codings_[row] <= static_cast<std::uint8_t>(JpegCoding::kArithmetic), "a JPEG's coding is unknown");
    require(colors_[row] <= static_cast<std::uint8_t>(JpegColors::kYcck), "a JPEG's colours are unknown");
    require(soundness_[row] <= static_cast<std::uint8_t>(Soundness::kBad), "a sample's soundness is unknown");
    constexpr std::uint32_t kMost = std::numeric_limits<int>::max();
    require(at<std::uint32_t>(widths_, row) <= kMost && at<std::uint32_t>(heights_, row) <= kMost,
            "an image is too large");
    const bool has_facts = codecs_[row] != 0;
    require(!has_facts || (orientations_[row] >= 1 && orientations_[row] <= 8), "an orientation is unknown");
    require(!has_facts || (at<std::uint32_t>(widths_, row) >= 1 && at<std::uint32_t>(heights_, row) >= 1),
            "an image has no pixels");
    require(!has_facts || (components_[row] >= 1 && chroma_[row] >> 4 >= 1 && (chroma_[row] & 15) >= 1),
            "an image's components are unknown");
  }
  require(key_end == text_bytes_ && field_end == fields_, "its columns do not end together");
  require(entry_points_end == limits.entry_points_bytes, "a sample has entry points that are not there");
  for (std::size_t field = 0; field < fields_; ++field) {
    const auto offset = at<std::uint64_t>(offsets_, field), length = at<std::uint64_t>(lengths_, field);
    require(offset <= limits.data_bytes && length <= limits.data_bytes - offset, "a field is outside its shard");
    require(at<std::uint16_t>(names_, field) < limits.names, "a field has no name");
    const auto next_chunk = at<std::uint32_t>(chunk_ends_, field);
    require(next_chunk >= chunk_end && next_chunk <= chunks_, "a field has checksums that are not there");
    const std::uint64_t whole = (length + kChunkBytes - 1) / kChunkBytes;
    require(next_chunk == chunk_end || next_chunk - chunk_end == whole, "a field has too few checksums");
    chunk_end = next_chunk;
  }
  require(chunk_end == chunks_, "its checksums do not end together");
}

void IndexBlock::read(std::int64_t row, std::span<const std::string> names, SampleRow& into) const {
  assert(row >= 0 && row < rows_);
  const auto i = static_cast<std::size_t>(row);
  into.clear();
  const std::uint32_t key_begin = i == 0 ? 0 : at<std::uint32_t>(key_ends_, i - 1);
  into.key.assign(reinterpret_cast<const char*>(text_) + key_begin, at<std::uint32_t>(key_ends_, i) - key_begin);
  into.label = at<std::int64_t>(labels_, i);
  into.soundness = static_cast<Soundness>(soundness_[i]);
  if (codecs_[i] != 0) {
    into.facts = ImageFacts{.codec = static_cast<Codec>(codecs_[i]),
                            .width = static_cast<int>(at<std::uint32_t>(widths_, i)),
                            .height = static_cast<int>(at<std::uint32_t>(heights_, i)),
                            .components = components_[i],
                            .bits_per_component = bits_[i],
                            .orientation = orientations_[i],
                            .coding = static_cast<JpegCoding>(codings_[i]),
                            .colors = static_cast<JpegColors>(colors_[i]),
                            .chroma_across = chroma_[i] >> 4,
                            .chroma_down = chroma_[i] & 15};
  }
  const std::uint32_t entry_points_begin = i == 0 ? 0 : at<std::uint32_t>(entry_points_ends_, i - 1);
  into.entry_points.offset = entry_points_begin;
  into.entry_points.length = at<std::uint32_t>(entry_points_ends_, i) - entry_points_begin;
  const std::uint32_t field_end = at<std::uint32_t>(field_ends_, i);
  for (std::uint32_t f = i == 0 ? 0 : at<std::uint32_t>(field_ends_, i - 1); f < field_end; ++f) {
    const std::uint32_t chunk_begin = f == 0 ? 0 : at<std::uint32_t>(chunk_ends_, f - 1);
    SampleField field{.name = names[at<std::uint16_t>(names_, f)],
                      .part = {},
                      .offset = at<std::uint64_t>(offsets_, f),
                      .length = at<std::uint64_t>(lengths_, f),
                      .first_chunk = static_cast<std::uint32_t>(into.chunk_crcs.size()),
                      .chunks = at<std::uint32_t>(chunk_ends_, f) - chunk_begin};
    if (has_checksums_) field.crc32c = at<std::uint32_t>(crcs_, f);
    for (std::uint32_t chunk = 0; chunk < field.chunks; ++chunk) {
      into.chunk_crcs.push_back(at<std::uint32_t>(chunk_crcs_, chunk_begin + chunk));
    }
    into.fields.push_back(field);
  }
}

}  // namespace stoker
