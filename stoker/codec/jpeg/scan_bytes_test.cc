#include "stoker/codec/jpeg/scan_bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/fenced_bytes_testing.h"
#include "stoker/base/noise_testing.h"
#include "stoker/base/rounds_testing.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using File = std::vector<std::uint8_t>;

File bytes_of(const ScanBytes& scan) { return {scan.data(), scan.data() + scan.size()}; }

TEST(ScanBytes, AreWithoutTheZerosAfterFf) {
  ScanBytes scan;
  scan.read(File{9, 1, 0xFF, 0, 2, 0xFF, 0, 0xFF, 0, 0, 0xFF, 0xD9}, 1, false);
  EXPECT_EQ(bytes_of(scan), (File{1, 0xFF, 2, 0xFF, 0xFF, 0}));
  EXPECT_TRUE(scan.ends_image());
  EXPECT_TRUE(scan.restarts().empty());
}

TEST(ScanBytes, EndAtTheFirstMarker) {
  ScanBytes scan;
  scan.read(File{1, 0xFF, 0xD8, 2, 0xFF, 0xD9}, 0, true);
  EXPECT_EQ(bytes_of(scan), (File{1}));
  EXPECT_FALSE(scan.ends_image());
}

TEST(ScanBytes, MayHaveFillingBeforeTheEnd) {
  ScanBytes scan;
  scan.read(File{1, 0xFF, 0xFF, 0xFF, 0xD9}, 0, false);
  EXPECT_EQ(bytes_of(scan), (File{1}));
  EXPECT_TRUE(scan.ends_image());
}

TEST(ScanBytes, OfAFileThatJustEndsDoNotEndTheImage) {
  ScanBytes scan;
  for (const File& file : {File{}, File{1}, File{1, 0xFF}, File{0xFF, 0xFF}, File{1, 0xFF, 0}, File{0xFF, 0}}) {
    scan.read(file, 0, true);
    EXPECT_FALSE(scan.ends_image());
    EXPECT_LE(scan.size(), file.size());
  }
}

TEST(ScanBytes, KnowWhereIntervalsBegin) {
  ScanBytes scan;
  scan.read(File{1, 0xFF, 0xD0, 2, 3, 0xFF, 0, 0xFF, 0xD1, 0xFF, 0xD2, 4, 0xFF, 0xD9}, 0, true);
  EXPECT_EQ(bytes_of(scan), (File{1, 2, 3, 0xFF, 4}));
  EXPECT_THAT(scan.restarts(), ElementsAre(1, 4, 4));
  EXPECT_TRUE(scan.ends_image());
}

TEST(ScanBytes, EndAtARestartOutOfTurn) {
  ScanBytes scan;
  for (const std::uint8_t marker : {0xD0, 0xD2, 0xD7}) {
    scan.read(File{1, 0xFF, 0xD0, 2, 0xFF, marker, 3, 0xFF, 0xD9}, 0, true);
    EXPECT_EQ(bytes_of(scan), (File{1, 2}));
    EXPECT_THAT(scan.restarts(), ElementsAre(1));
    EXPECT_FALSE(scan.ends_image());
  }
}

TEST(ScanBytes, EndAtARestartWhereThereAreToBeNone) {
  ScanBytes scan;
  scan.read(File{1, 0xFF, 0xD0, 2, 0xFF, 0xD9}, 0, false);
  EXPECT_EQ(bytes_of(scan), (File{1}));
  EXPECT_FALSE(scan.ends_image());
}

// What T.81 says, byte by byte.
struct PlainScan {
  File bytes;
  std::vector<std::uint32_t> restarts;
  std::vector<std::size_t> places;  // of each byte in the file
  bool ends_image = false;

  PlainScan(const File& file, std::size_t at, bool with_restarts) {
    const auto next_is = [&](int value) { return at + 1 < file.size() && file[at + 1] == value; };
    for (; at < file.size(); ++at) {
      if (file[at] == 0xFF && with_restarts && next_is(0xD0 + static_cast<int>(restarts.size() % 8))) {
        restarts.push_back(static_cast<std::uint32_t>(bytes.size()));
        ++at;
        continue;
      }
      if (file[at] == 0xFF && !next_is(0)) break;
      places.push_back(at);
      bytes.push_back(file[at]);
      if (file[at] == 0xFF) ++at;
    }
    while (next_is(0xFF)) ++at;
    ends_image = next_is(0xD9);
  }
};

// Bytes of a scan, most of them such as matter here; the scan begins at the third.
File any_scan(Noise& noise) {
  File file = {0xFF, 0};
  int restarts = 0;
  for (int count = noise.between(0, 200); count > 0; --count) {
    switch (noise.between(0, 9)) {
      case 0: file.insert(file.end(), {0xFF, 0}); break;
      case 1: file.push_back(0); break;
      case 2:
        if (noise.between(0, 9) == 0) restarts += noise.between(0, 1);
        file.insert(file.end(), {0xFF, static_cast<std::uint8_t>(0xD0 + restarts++ % 8)});
        break;
      case 3:
        if (noise.between(0, 30) == 0) file.insert(file.end(), {0xFF, noise.byte()});
        break;
      default: file.push_back(static_cast<std::uint8_t>(noise.byte() % 255)); break;
    }
  }
  if (noise.between(0, 3) != 0) file.insert(file.end(), {0xFF, 0xD9});
  return file;
}

TEST(ScanBytes, AreWhatGoingByteByByteFinds) {
  ScanBytes scan;
  for (int round = 0; round < rounds(3000); ++round) {
    Noise noise(static_cast<std::uint32_t>(round));
    const File file = any_scan(noise);
    const FencedBytes fenced(file.size(), round % 2 ? FencedBytes::Fence::kAfter : FencedBytes::Fence::kBefore);
    std::copy(file.begin(), file.end(), fenced.data());
    const bool restarts = noise.between(0, 3) != 0;
    const PlainScan want(file, 2, restarts);
    scan.read({fenced.data(), file.size()}, 2, restarts);
    ASSERT_EQ(bytes_of(scan), want.bytes) << round;
    ASSERT_EQ(scan.restarts(), want.restarts) << round;
    ASSERT_EQ(scan.ends_image(), want.ends_image) << round;
    for (std::size_t i = 0; i < kScanSlack; ++i) ASSERT_EQ(scan.data()[scan.size() + i], 0);
  }
}

TEST(StuffedPlace, IsWhereAByteOfTheScanStands) {
  for (int round = 0; round < rounds(1000); ++round) {
    Noise noise(static_cast<std::uint32_t>(round));
    const File file = any_scan(noise);
    const PlainScan scan(file, 2, true);
    StuffedPlace all(file, 2), some(file, 2);
    for (std::size_t i = 0; i < scan.bytes.size(); ++i) {
      ASSERT_EQ(all.find(static_cast<std::uint32_t>(i)), scan.places[i]) << round;
      if (noise.between(0, 9) != 0) continue;
      ASSERT_EQ(some.find(static_cast<std::uint32_t>(i)), scan.places[i]) << round;
      ASSERT_EQ(some.find(static_cast<std::uint32_t>(i)), scan.places[i]) << round;
    }
  }
}

TEST(LoadBits, TakesTheHighestBitFirst) {
  const std::uint8_t bytes[] = {0x12, 0x34, 0x56, 0x78, 0x9A, 0xBC, 0xDE, 0xF1, 0x11};
  EXPECT_EQ(load_bits(bytes, 0), 0x123456789ABCDEF1U);
  EXPECT_EQ(load_bits(bytes, 4), 0x23456789ABCDEF10U);
  EXPECT_EQ(load_bits(bytes, 8), 0x3456789ABCDEF111U);
}

}  // namespace
}  // namespace stoker
