#include "stoker/runtime/probe/store_advice.h"

#include <gtest/gtest.h>

#include "stoker/runtime/loader_testing.h"

namespace stoker {
namespace {

StoreRates rates() {
  StoreRates rates;
  rates.first_byte_s_p50 = 0.05;
  rates.connection_bytes_per_s = 50e6;
  rates.link_bytes_per_s = 100e6;
  rates.requests_per_s = 2000;
  rates.requests_at_once = 100;
  return rates;
}

TEST(StoreAdvice, ExpectsWhatTheLinkCarriesWhereBytesAreMany) {
  EXPECT_DOUBLE_EQ(store_samples_per_s(rates(), {.requests = 0.1, .bytes = 100e3, .requests_ahead = 1000}), 1000);
}

TEST(StoreAdvice, ExpectsAsManySamplesAsRequestsAreAnswered) {
  StoreRates throttled = rates();
  throttled.requests_per_s = 500;
  EXPECT_DOUBLE_EQ(store_samples_per_s(throttled, {.requests = 1, .bytes = 10, .requests_ahead = 1000}), 500);
  EXPECT_DOUBLE_EQ(store_samples_per_s(rates(), {.requests = 2, .bytes = 0, .requests_ahead = 1000}), 1000);
}

TEST(StoreAdvice, CountsNoMoreRequestsAtATimeThanTheReadAheadHasRoomFor) {
  // Each of 5 takes 50 ms, and another 50 ms for its 2.5 MB.
  EXPECT_DOUBLE_EQ(store_samples_per_s(rates(), {.requests = 0.1, .bytes = 250e3, .requests_ahead = 2}), 2 / 0.1 / 0.1);
}

TEST(StoreAdvice, CountsOnNoMoreReadsThanTheIoDepthOfARun) {
  EXPECT_EQ(reads_at_once(OrderKind::kGlobal, {}), kIoDepthMax);
  EXPECT_EQ(reads_at_once(OrderKind::kWindowed, {}), kIoDepthFarFirst);
  EXPECT_EQ(reads_at_once(OrderKind::kWindowed, {.tune = TuneMode::kOff}), kIoDepthMax);
  EXPECT_EQ(reads_at_once(OrderKind::kWindowed, {.io_depth = 300}), 300);
}

TEST(StoreAdvice, CountsOnNoMoreThanTheCoresCarry) {
  EXPECT_DOUBLE_EQ(threads_samples_per_s(1000, 64, 8), 8000);
  EXPECT_DOUBLE_EQ(threads_samples_per_s(1000, 2, 1.5), 1500);
  EXPECT_DOUBLE_EQ(threads_samples_per_s(1000, 3, 8), 3000);
}

TEST(StoreAdvice, RecommendsShardsThatHoldAWindowAndAreWorthOpening) {
  const OrderExpectation global, windowed{.order = OrderKind::kWindowed, .window = 1024, .lanes = 8};
  EXPECT_EQ(shard_bytes_enough(rates(), global, 1000), 32'000'000u) << "100 times 4 round trips, 100 at a time";
  EXPECT_EQ(shard_bytes_enough(rates(), windowed, 100'000), 128'000'000u);
  StoreRates near = rates();
  near.first_byte_s_p50 = 1e-6;
  EXPECT_EQ(shard_bytes_enough(near, global, 1000), 1'000'000u);
}

TEST(StoreAdvice, HasNothingToSayOfDataThatAreNotBehindANetwork) {
  EXPECT_FALSE(advise_store(*memory_dataset().dataset, small_recipe(), {.batch = 8}, 100));
}

}  // namespace
}  // namespace stoker
