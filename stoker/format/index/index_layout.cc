#include "stoker/format/index/index_layout.h"

#include <algorithm>

#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/base/little_endian.h"
#include "stoker/format/index/index_block.h"

namespace stoker {
namespace {

constexpr std::uint32_t kHasDataHash = 1, kHasChecksums = 2, kWasDecoded = 4, kHasCrc32 = 8;

// Where things stand in the trailer.
constexpr std::size_t kVersionAt = 8, kRowsPerBlockAt = 12, kDataHashAt = 64, kFlagsAt = 96,
                      kTrailerHashAt = 120;  // reserved bytes follow the flags
struct TrailerNumber {
  std::size_t at;
  std::uint64_t IndexTrailer::*value;
};
constexpr TrailerNumber kTrailerNumbers[] = {
    {16, &IndexTrailer::index_bytes},    {24, &IndexTrailer::directory_offset}, {32, &IndexTrailer::directory_bytes},
    {40, &IndexTrailer::directory_hash}, {48, &IndexTrailer::data_bytes},       {56, &IndexTrailer::content_tag},
    {72, &IndexTrailer::samples},        {80, &IndexTrailer::fingerprint},      {88, &IndexTrailer::sample_bytes}};

constexpr std::size_t kSectionHeadBytes = 16, kPlaceBytes = 24;

}  // namespace

void append_trailer(std::vector<std::uint8_t>& index, IndexTrailer trailer) {
  const std::size_t end = (index.size() + kIndexTrailerBytes + kIndexUnit - 1) / kIndexUnit * kIndexUnit;
  index.resize(end);  // the padding is zeros
  std::uint8_t* bytes = index.data() + end - kIndexTrailerBytes;
  const auto put = [bytes](std::size_t at, auto value) { store_little_endian(bytes + at, value); };
  std::copy(kIndexMagic.begin(), kIndexMagic.end(), bytes);
  put(kVersionAt, kIndexVersion);
  put(kRowsPerBlockAt, static_cast<std::uint32_t>(kRowsPerBlock));
  trailer.index_bytes = end;
  for (const TrailerNumber& number : kTrailerNumbers) put(number.at, trailer.*number.value);
  put(kDataHashAt, trailer.data_hash.value_or(0));
  put(kFlagsAt, (trailer.data_hash ? kHasDataHash : 0) | (trailer.has_checksums ? kHasChecksums : 0) |
                    (trailer.was_decoded ? kWasDecoded : 0) | (trailer.has_crc32 ? kHasCrc32 : 0));
  put(kTrailerHashAt, hash64(Bytes(bytes, kTrailerHashAt)));
}

TrailerState read_trailer(Bytes bytes, IndexTrailer& into) {
  if (bytes.size() != kIndexTrailerBytes || !as_text(bytes).starts_with(kIndexMagic)) return TrailerState::kNoIndex;
  const auto u32 = [bytes](std::size_t at) { return load_little_endian<std::uint32_t>(bytes.data() + at); };
  const auto u64 = [bytes](std::size_t at) { return load_little_endian<std::uint64_t>(bytes.data() + at); };
  if (u64(kTrailerHashAt) != hash64(bytes.first(kTrailerHashAt))) return TrailerState::kDamaged;
  if (u32(kVersionAt) != kIndexVersion) return TrailerState::kOtherVersion;
  const std::uint32_t flags = u32(kFlagsAt);
  for (const TrailerNumber& number : kTrailerNumbers) into.*number.value = u64(number.at);
  into.data_hash = flags & kHasDataHash ? std::optional(u64(kDataHashAt)) : std::nullopt;
  into.has_checksums = (flags & kHasChecksums) != 0;
  into.was_decoded = (flags & kWasDecoded) != 0;
  into.has_crc32 = (flags & kHasCrc32) != 0;
  const bool plausible =
      u32(kRowsPerBlockAt) == kRowsPerBlock && into.index_bytes % kIndexUnit == 0 &&
      into.index_bytes >= kIndexMagic.size() + kIndexTrailerBytes && into.directory_offset >= kIndexMagic.size() &&
      into.directory_offset <= into.index_bytes - kIndexTrailerBytes &&
      into.directory_bytes <= into.index_bytes - kIndexTrailerBytes - into.directory_offset &&
      into.samples <= into.index_bytes && into.sample_bytes <= INT64_MAX && !(into.has_checksums && into.has_crc32);
  return plausible ? TrailerState::kGood : TrailerState::kDamaged;
}

void append_directory(std::vector<std::uint8_t>& index, const std::vector<IndexSection>& sections) {
  append_little_endian(index, static_cast<std::uint32_t>(sections.size()));
  for (const IndexSection& section : sections) {
    append_little_endian(index, static_cast<std::uint32_t>(section.kind));
    append_little_endian(index, section.version);
    append_little_endian(index, std::uint64_t{section.blocks.size()});
    for (const IndexBlockPlace& block : section.blocks) {
      append_little_endian(index, block.offset);
      append_little_endian(index, block.length);
      append_little_endian(index, block.hash);
    }
  }
}

std::vector<IndexSection> read_directory(Bytes bytes, std::uint64_t directory_offset) {
  const auto require = [](bool holds) {
    if (!holds) fail(ErrorKind::kData, "the index's directory is damaged");
  };
  const auto take = [&](std::size_t count) {
    require(bytes.size() >= count);
    const Bytes taken = bytes.first(count);
    bytes = bytes.subspan(count);
    return taken.data();
  };
  std::vector<IndexSection> sections;
  std::uint64_t end = kIndexMagic.size();  // of the block before
  const auto count = load_little_endian<std::uint32_t>(take(4));
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint8_t* head = take(kSectionHeadBytes);
    IndexSection& section = sections.emplace_back();
    section.kind = static_cast<IndexSectionKind>(load_little_endian<std::uint32_t>(head));
    section.version = load_little_endian<std::uint32_t>(head + 4);
    const auto blocks = load_little_endian<std::uint64_t>(head + 8);
    require(blocks <= bytes.size() / kPlaceBytes);
    section.blocks.reserve(blocks);
    for (std::uint64_t block = 0; block < blocks; ++block) {
      const std::uint8_t* place = take(kPlaceBytes);
      const IndexBlockPlace& added = section.blocks.emplace_back(
          IndexBlockPlace{load_little_endian<std::uint64_t>(place), load_little_endian<std::uint64_t>(place + 8),
                          load_little_endian<std::uint64_t>(place + 16)});
      require(added.offset == end && added.length <= kIndexBlockBytesMax);
      end += added.length;
    }
  }
  require(bytes.empty() && end == directory_offset);
  return sections;
}

}  // namespace stoker
