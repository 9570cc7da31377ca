#include "stoker/runtime/board/read_ahead_depth.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace stoker {
namespace {

constexpr std::size_t kLeast = 1000, kMost = 6000;
constexpr std::int64_t kShort = 1000, kLong = 10'000'000;

// As many bytes as `depth` is, until so many were granted.
void grant(ReadAheadDepth& depth, std::size_t bytes) {
  for (std::size_t granted = 0; granted < bytes; granted += 100) depth.granted(100);
}

TEST(ReadAheadDepth, IsTheLeastWhileNoWorkerStarves) {
  ReadAheadDepth depth(kLeast, kMost);
  grant(depth, 100 * kMost);
  EXPECT_EQ(depth.bytes(), kLeast);
}

TEST(ReadAheadDepth, DoublesWhenAWorkerStarvesForLongUpToTheMost) {
  ReadAheadDepth depth(kLeast, kMost);
  for (const std::size_t bytes : {2000u, 4000u, 6000u, 6000u}) {
    depth.starved(kLong);
    EXPECT_EQ(depth.bytes(), bytes);
  }
}

TEST(ReadAheadDepth, DoublesWhenWorkersStarveShortlyButOften) {
  ReadAheadDepth depth(kLeast, kMost);
  for (int times = 0; depth.bytes() < kMost; ++times) {
    ASSERT_LT(times, 20);
    depth.starved(kShort);
    grant(depth, 300);
  }
  ReadAheadDepth seldom(kLeast, kMost);
  for (int times = 0; times < 100; ++times) {
    seldom.starved(kShort);
    grant(seldom, 2 * kLeast);
  }
  EXPECT_EQ(seldom.bytes(), kLeast);
}

// The bytes that are granted before it becomes less.
std::size_t until_less(ReadAheadDepth& depth) {
  std::size_t granted = 0;
  for (const std::size_t before = depth.bytes(); depth.bytes() == before; granted += 100) {
    if (granted > 1000 * kMost) ADD_FAILURE() << "it stays so";
    if (granted > 1000 * kMost) break;
    depth.granted(100);
  }
  return granted;
}

TEST(ReadAheadDepth, ShrinksAfterATimeWithoutAStarvingWorker) {
  ReadAheadDepth depth(kLeast, kMost);
  for (int times = 0; times < 3; ++times) depth.starved(kLong);
  for (int times = 0; times < 20; ++times) {
    grant(depth, 6 * kMost);
    depth.starved(kShort);
    ASSERT_EQ(depth.bytes(), kMost);
  }
  for (const std::size_t bytes : {3000u, 1500u, 1000u}) {
    const std::size_t granted = until_less(depth);
    EXPECT_EQ(depth.bytes(), bytes);
    EXPECT_GE(granted, 7 * bytes);
    EXPECT_LE(granted, 20 * bytes);
  }
}

TEST(ReadAheadDepth, TriesLessTheMoreSeldomTheMoreOftenThatWasTooLittle) {
  ReadAheadDepth depth(kLeast, kMost);
  for (int times = 0; times < 3; ++times) depth.starved(kLong);
  std::size_t before = until_less(depth);
  for (int times = 0; times < 4; ++times) {
    depth.starved(kLong);
    ASSERT_EQ(depth.bytes(), kMost);
    const std::size_t granted = until_less(depth);
    EXPECT_NEAR(static_cast<double>(granted), 2 * static_cast<double>(before), 1000);
    before = granted;
  }
}

TEST(ReadAheadDepth, HasRoomForSomeSamplesThatAreLarge) {
  ReadAheadDepth depth(kLeast, kMost);
  depth.wants(10);
  EXPECT_EQ(depth.bytes(), kLeast);
  depth.wants(500);
  EXPECT_GE(depth.bytes(), 3 * 500u);
  depth.wants(1'000'000);
  EXPECT_EQ(depth.bytes(), kMost);
  depth.wants(10);
  EXPECT_EQ(depth.bytes(), kMost);
}

TEST(ReadAheadDepth, IsNeverAboveTheMostEvenAtLeast) { EXPECT_EQ(ReadAheadDepth(kMost + 1, kMost).bytes(), kMost); }

}  // namespace
}  // namespace stoker
