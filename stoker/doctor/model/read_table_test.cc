#include "stoker/doctor/model/read_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "stoker/doctor/facts_testing.h"

namespace stoker {
namespace {

ReadTable measured_table() {
  return ReadTable({{4096, 1, figure(1000, 0.1), {}},
                    {4096, 16, figure(8000, 0.2), {}},
                    {1'000'000, 1, figure(100), {}},
                    {1'000'000, 16, figure(200), {}}});
}

TEST(ReadTable, GivesWhatWasMeasured) {
  const ReadTable table = measured_table();
  EXPECT_DOUBLE_EQ(table.rate(4096, 16).reads_per_s, 8000);
  EXPECT_DOUBLE_EQ(table.rate(4096, 16).error, 0.2);
  EXPECT_DOUBLE_EQ(table.rate(1'000'000, 1).reads_per_s, 100);
  EXPECT_DOUBLE_EQ(table.bytes_per_s_most(), 200e6);
}

TEST(ReadTable, IsInBetweenForOtherDepthsAndSizes) {
  const ReadTable table = measured_table();
  EXPECT_NEAR(table.rate(4096, 4).reads_per_s, std::sqrt(1000.0 * 8000), 1e-6);
  // Half of the way in bytes is half of the way in seconds.
  EXPECT_NEAR(1 / table.rate((4096 + 1e6) / 2, 16).reads_per_s, (1 / 8000.0 + 1 / 200.0) / 2, 1e-9);
}

TEST(ReadTable, GoesOnByBytesAndNotByDepth) {
  const ReadTable table = measured_table();
  EXPECT_DOUBLE_EQ(table.rate(512, 16).reads_per_s, 8000);
  EXPECT_DOUBLE_EQ(table.rate(4'000'000, 16).reads_per_s, 50);
  EXPECT_DOUBLE_EQ(table.rate(4096, 1000).reads_per_s, 8000);
  EXPECT_DOUBLE_EQ(table.deepest_rate(4096).reads_per_s, 8000);
}

TEST(ReadTable, TakesLongReadsForAsFastAsTheyAreSaidToBe) {
  const ReadTable table({{2500, 4, figure(150), {}}}, 160e6);
  EXPECT_DOUBLE_EQ(table.rate(2500, 4).reads_per_s, 150);
  EXPECT_DOUBLE_EQ(1 / table.rate(1'602'500, 4).reads_per_s, 1 / 150.0 + 0.01);
  const ReadTable fast({{2500, 4, figure(1e6), {}}}, 160e6);
  EXPECT_NEAR(fast.rate(1e6, 4).reads_per_s, 2500, 1e-6) << "as fast as the small ones, at least";
}

TEST(ReadTable, LeavesOutWhatWasNotMeasured) {
  EXPECT_FALSE(ReadTable(std::vector<ReadFacts>{{4096, 1, {}, {}}}).known());
  EXPECT_FALSE(ReadTable(std::vector<ReadFacts>{}).known());
}

TEST(ReadTable, WhatMayNotBeWhatItSeemsHasALargerError) {
  Figure doubtful = figure(1000, 0.1);
  doubtful.caveat = "30% of the bytes came from the device";
  EXPECT_GT(ReadTable(std::vector<ReadFacts>{{4096, 1, doubtful, {}}}).rate(4096, 1).error, 0.3);
}

TEST(ReadTable, OfAClassIsHeldByLatencyThenReadsThenBytes) {
  const ReadTable table(DiskClass{.name = "a", .bytes_per_s = 1e9, .reads_per_s = 50e3, .latency_s = 1e-3});
  EXPECT_NEAR(table.rate(4096, 1).reads_per_s, 1 / (1e-3 + 4096e-9), 1);
  EXPECT_NEAR(table.rate(4096, 1024).reads_per_s, 50e3, 1);
  EXPECT_NEAR(table.rate(1 << 20, 64).reads_per_s, 1e9 / (1 << 20), 1);
  const ReadTable slow(DiskClass{.name = "b", .bytes_per_s = 5e6, .reads_per_s = 100e3, .latency_s = 1e-3});
  EXPECT_NEAR(slow.rate(2560, 64).reads_per_s, 5e6 / 2560, 1) << "of less than a page, too";
}

}  // namespace
}  // namespace stoker
