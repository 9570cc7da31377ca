#include "stoker/capacity/rates.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace stoker {
namespace {

TEST(Rates, ThreadsBeyondTheCoresCountInPart) {
  EXPECT_EQ(worth_of_threads(3, 4, 0.5), 3);
  EXPECT_EQ(worth_of_threads(4, 4, 0.5), 4);
  EXPECT_EQ(worth_of_threads(6, 4, 0.5), 5);
  EXPECT_EQ(worth_of_threads(6, 4, 0), 4);
  EXPECT_EQ(worth_of_threads(6, 4, 1), 6);
}

TEST(Rates, AreWhatThereIsDividedByWhatASampleNeeds) {
  EXPECT_DOUBLE_EQ(rate_of_workers(4, 2e-3), 2000);
  EXPECT_DOUBLE_EQ(rate_of_steps(256, 0.1), 2560);
  EXPECT_DOUBLE_EQ(rate_of_bytes(1e9, 100e3), 10e3);
  EXPECT_DOUBLE_EQ(rate_of_requests(3000, 1.5), 2000);
  EXPECT_DOUBLE_EQ(rate_of_latency(64, 0.032, 2), 1000);
  EXPECT_DOUBLE_EQ(crowded_requests_per_s(1000, 0.1, 11), 500);
}

TEST(Rates, WhatIsNotNeededDoesNotLimit) {
  EXPECT_EQ(rate_of_workers(4, 0), kUnlimited);
  EXPECT_EQ(rate_of_bytes(1e9, 0), kUnlimited);
  EXPECT_EQ(rate_of_requests(3000, 0), kUnlimited);
  EXPECT_EQ(rate_of_latency(64, 0, 1), kUnlimited);
  EXPECT_EQ(rate_of_latency(64, 0.03, 0), kUnlimited);
}

TEST(Rates, ThroughputIsTheLeastRateOrALittleLess) {
  EXPECT_NEAR(throughput_of(std::array{100.0, 1000.0, kUnlimited}), 100, 1e-9);
  EXPECT_NEAR(throughput_of(std::array{100.0, 100.0}), 100 / std::pow(2.0, 1.0 / 16), 1e-9);
  EXPECT_LT(throughput_of(std::array{100.0, 110.0}), 100);
  EXPECT_GT(throughput_of(std::array{100.0, 110.0}), 98);
  EXPECT_EQ(throughput_of(std::array{kUnlimited, kUnlimited}), kUnlimited);
  EXPECT_EQ(throughput_of(std::array{0.0, 5.0}), 0);
}

TEST(Rates, MixturesAddTimesAndNotRates) {
  EXPECT_DOUBLE_EQ(mixed_rate({{0.5, 100}, {0.5, 300}}), 150);  // the rates' average would be 200
  EXPECT_DOUBLE_EQ(mixed_rate({{0.9, kUnlimited}, {0.1, 100}}), 1000);
  EXPECT_DOUBLE_EQ(mixed_rate({{1, 100}, {0, 1}}), 100);
  EXPECT_EQ(mixed_rate({{1, kUnlimited}, {0, 0}}), kUnlimited);
}

TEST(Rates, MoreBatchesAheadLoseLess) {
  EXPECT_NEAR(share_by_prefetch(1), 1 / 1.15, 1e-12);
  EXPECT_GT(share_by_prefetch(2), share_by_prefetch(1));
  EXPECT_LT(share_by_prefetch(64), 1);
}

}  // namespace
}  // namespace stoker
