#include "stoker/format/index/index_layout.h"

#include <gtest/gtest.h>

#include <functional>

#include "stoker/base/error_testing.h"
#include "stoker/base/hash.h"
#include "stoker/base/little_endian.h"

namespace stoker {
namespace {

// Where docs/format-index.md says that they stand.
constexpr std::size_t kVersionAt = 8, kRowsPerBlockAt = 12, kIndexBytesAt = 16, kDirectoryOffsetAt = 24,
                      kDirectoryBytesAt = 32, kSamplesAt = 72, kSampleBytesAt = 88, kTrailerHashAt = 120;

/// What a trailer of an index of 512 bytes, whose directory is its bytes 100 to 199, is taken for once one of its
/// values is another and its hash is right again.
template <typename Integer>
TrailerState state_with(std::size_t at, Integer value) {
  std::vector<std::uint8_t> index(200);
  append_trailer(index, {.directory_offset = 100, .directory_bytes = 100, .samples = 7});
  EXPECT_EQ(index.size(), kIndexUnit);
  std::uint8_t* trailer = index.data() + index.size() - kIndexTrailerBytes;
  store_little_endian(trailer + at, value);
  store_little_endian(trailer + kTrailerHashAt, hash64(Bytes(trailer, kTrailerHashAt)));
  IndexTrailer read;
  return read_trailer(Bytes(index).last(kIndexTrailerBytes), read);
}

TEST(IndexTrailer, IsOfAnotherVersionWhicheverThatIs) {
  EXPECT_EQ(state_with(kVersionAt, kIndexVersion), TrailerState::kGood);
  EXPECT_EQ(state_with(kVersionAt, kIndexVersion - 1), TrailerState::kOtherVersion);
  EXPECT_EQ(state_with(kVersionAt, kIndexVersion + 1), TrailerState::kOtherVersion);
}

TEST(IndexTrailer, IsDamagedWhereItsNumbersFitNoIndex) {
  const auto expect = [](TrailerState state, std::size_t at, std::uint64_t value) {
    EXPECT_EQ(state_with(at, value), state) << value << " at byte " << at;
  };
  constexpr std::uint64_t kRoom = kIndexUnit - kIndexTrailerBytes;  // before the trailer
  EXPECT_EQ(state_with(kRowsPerBlockAt, std::uint32_t{128}), TrailerState::kDamaged);
  expect(TrailerState::kDamaged, kIndexBytesAt, 0);
  expect(TrailerState::kDamaged, kIndexBytesAt, kIndexUnit + 1);
  expect(TrailerState::kGood, kDirectoryOffsetAt, kIndexMagic.size());
  expect(TrailerState::kDamaged, kDirectoryOffsetAt, kIndexMagic.size() - 1);
  expect(TrailerState::kDamaged, kDirectoryOffsetAt, kRoom + 1);
  expect(TrailerState::kGood, kDirectoryBytesAt, kRoom - 100);
  expect(TrailerState::kDamaged, kDirectoryBytesAt, kRoom - 99);
  expect(TrailerState::kDamaged, kDirectoryBytesAt, UINT64_MAX);
  expect(TrailerState::kGood, kSamplesAt, kIndexUnit);
  expect(TrailerState::kDamaged, kSamplesAt, kIndexUnit + 1);
  expect(TrailerState::kGood, kSampleBytesAt, INT64_MAX);
  expect(TrailerState::kDamaged, kSampleBytesAt, std::uint64_t{INT64_MAX} + 1);
}

/// Two sections, whose blocks fill an index up to its byte 100.
std::vector<IndexSection> two_sections() {
  return {{.kind = IndexSectionKind::kRows, .blocks = {{8, 42, 1}, {50, 0, 2}}},
          {.kind = IndexSectionKind::kFieldNames, .blocks = {{50, 50, 3}}}};
}

Error refusal(std::uint64_t directory_offset, const std::function<void(std::vector<IndexSection>&)>& change) {
  std::vector<IndexSection> sections = two_sections();
  change(sections);
  std::vector<std::uint8_t> bytes;
  append_directory(bytes, sections);
  return error_of([&] { read_directory(bytes, directory_offset); });
}

TEST(IndexDirectory, ListsBlocksThatFillTheIndex) {
  std::vector<std::uint8_t> bytes;
  append_directory(bytes, two_sections());
  const std::vector<IndexSection> read = read_directory(bytes, 100);
  ASSERT_EQ(read.size(), 2u);
  ASSERT_EQ(read[0].blocks.size(), 2u);
  EXPECT_EQ(read[0].blocks[1].hash, 2u);
  EXPECT_EQ(read[1].kind, IndexSectionKind::kFieldNames);
  for (const std::uint64_t elsewhere : {8, 99, 101}) {
    EXPECT_EQ(error_of([&] { read_directory(bytes, elsewhere); }).kind(), ErrorKind::kData) << elsewhere;
  }
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_EQ(error_of([&] { read_directory(Bytes(bytes).first(length), 100); }).kind(), ErrorKind::kData) << length;
  }
  bytes.push_back(0);
  EXPECT_EQ(error_of([&] { read_directory(bytes, 100); }).kind(), ErrorKind::kData) << "something follows";
}

TEST(IndexDirectory, RefusesBlocksThatLieElsewhere) {
  const auto expect_refused = [](std::uint64_t directory_offset, std::uint64_t IndexBlockPlace::*member,
                                 std::uint64_t value) {
    const Error error = refusal(directory_offset, [&](auto& sections) { sections[1].blocks[0].*member = value; });
    EXPECT_EQ(error.kind(), ErrorKind::kData) << value;
  };
  expect_refused(100, &IndexBlockPlace::offset, 49);
  expect_refused(100, &IndexBlockPlace::offset, 51);
  expect_refused(100, &IndexBlockPlace::length, 49);
  expect_refused(100, &IndexBlockPlace::length, 51);
  expect_refused(100, &IndexBlockPlace::length, UINT64_MAX - 49);
  expect_refused(50 + kIndexBlockBytesMax + 1, &IndexBlockPlace::length, kIndexBlockBytesMax + 1);
  // Lengths that only come to the right sum.
  const Error error = refusal(100, [](auto& sections) {
    sections[0].blocks[0].length = UINT64_MAX;
    sections[0].blocks[1] = {7, 43, 2};
  });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
}

TEST(IndexDirectory, ReservesNoMemoryForBlocksThatAreNotThere) {
  std::vector<std::uint8_t> bytes;
  append_directory(bytes, {{.kind = IndexSectionKind::kRows, .blocks = {}}});
  for (const std::uint64_t blocks : {std::uint64_t{1}, std::uint64_t{1} << 40, UINT64_MAX}) {
    store_little_endian(bytes.data() + 12, blocks);
    EXPECT_EQ(error_of([&] { read_directory(bytes, 8); }).kind(), ErrorKind::kData) << blocks;
  }
}

}  // namespace
}  // namespace stoker
