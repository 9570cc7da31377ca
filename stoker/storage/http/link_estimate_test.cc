#include "stoker/storage/http/link_estimate.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

constexpr std::int64_t kMs = 1'000'000;

TEST(LatencyHistogram, TellsPercentilesWithinATwentieth) {
  LatencyHistogram histogram;
  EXPECT_EQ(histogram.quantile_ns(0.99), 0);
  for (int i = 1; i <= 1000; ++i) histogram.add(i * kMs);
  EXPECT_EQ(histogram.total(), 1000);
  EXPECT_NEAR(static_cast<double>(histogram.quantile_ns(0.5)), 500e6, 25e6);
  EXPECT_NEAR(static_cast<double>(histogram.quantile_ns(0.99)), 990e6, 50e6);
}

TEST(LatencyHistogram, TellsATimeThatAllHave) {
  for (const std::int64_t ns : {30'400 * kMs / 1000, 30'600 * kMs / 1000, 500 * kMs}) {
    LatencyHistogram histogram;
    for (int i = 0; i < 100; ++i) histogram.add(ns);
    EXPECT_NEAR(static_cast<double>(histogram.quantile_ns(0.5)), static_cast<double>(ns),
                0.025 * static_cast<double>(ns));
  }
}

TEST(LatencyHistogram, HasAPlaceForEveryTime) {
  for (const std::int64_t ns : {std::int64_t{-5}, std::int64_t{0}, LatencyHistogram::kLeastNs, kMs, 10'000'000 * kMs}) {
    EXPECT_LT(LatencyHistogram::bucket_of(ns), LatencyHistogram::kBuckets);
  }
  for (std::size_t bucket = 1; bucket < LatencyHistogram::kBuckets; ++bucket) {
    EXPECT_EQ(LatencyHistogram::bucket_of(LatencyHistogram::end_of_ns(bucket) - 2), bucket);
  }
  EXPECT_GE(LatencyHistogram::end_of_ns(LatencyHistogram::kBuckets - 1), 170'000 * kMs);
}

TEST(LinkEstimate, ReadsGapsThatPassInTheTimeOfARequest) {
  LinkEstimate link;
  EXPECT_EQ(link.gap_in_turn(), LinkEstimate::kGapFirst);
  for (int i = 0; i < 100; ++i) link.add(30 * kMs, 1 << 20, 20 * kMs);  // 50 MiB a second
  EXPECT_NEAR(static_cast<double>(link.gap_in_turn()), 1.5 * (1 << 20), 1e3);
  for (int i = 0; i < 200; ++i) link.add(3 * kMs, 1 << 20, 120 * kMs);  // 8.3 MiB a second
  EXPECT_NEAR(static_cast<double>(link.gap_in_turn()), 0.025 * (1 << 20), 1e3);
}

TEST(LinkEstimate, AsksForMoreRequestsAtOnceTheFartherTheServerIs) {
  LinkEstimate near, far, busy;
  for (int i = 0; i < 100; ++i) {
    near.add(kMs, 1 << 20, kMs);
    far.add(30 * kMs, 1 << 20, kMs);
    busy.add(i == 0 ? kMs : 30 * kMs, 1 << 20, kMs);  // they wait for each other
  }
  EXPECT_EQ(LinkEstimate().worth_at_once(), 0);
  EXPECT_EQ(near.worth_at_once(), 10);
  EXPECT_EQ(far.worth_at_once(), 300);
  EXPECT_LT(busy.worth_at_once(), 12);
  for (int i = 0; i < 5000; ++i) near.add(30 * kMs, 1 << 20, kMs);
  EXPECT_EQ(near.worth_at_once(), 300) << "the way to it has become longer";
}

TEST(LinkEstimate, StaysWithinBounds) {
  LinkEstimate link;
  for (int i = 0; i < 100; ++i) link.add(0, 1 << 20, 1000 * kMs);
  EXPECT_EQ(link.gap_in_turn(), LinkEstimate::kGapLeast);
  for (int i = 0; i < 500; ++i) link.add(1000 * kMs, 1 << 20, 1);
  EXPECT_EQ(link.gap_in_turn(), LinkEstimate::kGapMost);
}

TEST(LinkEstimate, TakesNoRateFromShortBodies) {
  LinkEstimate link;
  for (int i = 0; i < 100; ++i) link.add(30 * kMs, 100, 1);
  EXPECT_EQ(link.gap_in_turn(), LinkEstimate::kGapFirst);
}

TEST(LinkEstimate, TellsWhichRequestIsLateOnceItHasSeenEnough) {
  LinkEstimate link;
  for (int i = 0; i < 199; ++i) link.add(10 * kMs, 100, 0);
  EXPECT_FALSE(link.late_after_ns());
  link.add(10 * kMs, 100, 0);
  ASSERT_TRUE(link.late_after_ns());
  EXPECT_NEAR(static_cast<double>(*link.late_after_ns()), 10e6, 2e6);
}

TEST(LinkEstimate, CallsNoRequestLateThatMayOnlyHaveWaitedForAThread) {
  LinkEstimate link;
  for (int i = 0; i < 400; ++i) link.add(100'000, 100, 0);
  EXPECT_EQ(link.late_after_ns(), 2 * kMs);
}

}  // namespace
}  // namespace stoker
