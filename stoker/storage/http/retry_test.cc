// When a request is repeated, and how often.
#include <gtest/gtest.h>

#include "stoker/storage/http/retry_budget.h"
#include "stoker/storage/http/retry_delay.h"

namespace stoker {
namespace {

constexpr std::int64_t kMs = 1'000'000;

TEST(RetryDelay, IsDrawnFromATimeThatDoublesUpToTheMost) {
  const HttpOptions options;  // 100 ms, up to 20 s
  EXPECT_EQ(retry_delay_ns(options, 1, 0, {}), 0);
  EXPECT_EQ(retry_delay_ns(options, 1, 0.5, {}), 50 * kMs);
  EXPECT_EQ(retry_delay_ns(options, 3, 0.5, {}), 200 * kMs);
  EXPECT_EQ(retry_delay_ns(options, 30, 0.5, {}), 10'000 * kMs);
}

TEST(RetryDelay, IsNoShorterThanTheServerAsks) {
  const HttpOptions options;
  EXPECT_EQ(retry_delay_ns(options, 1, 0, 2), 2000 * kMs);
  EXPECT_EQ(retry_delay_ns(options, 1, 0.5, 2), 2050 * kMs);
  EXPECT_GT(retry_delay_ns(options, 1, 0, std::int64_t{1} << 62), 0);
}

TEST(RetryBudget, IsFilledByRequestsAndEmptiedByRepetitions) {
  RetryBudget budget(0.25, 2);
  EXPECT_TRUE(budget.take());
  EXPECT_TRUE(budget.take());
  EXPECT_FALSE(budget.take());
  for (int i = 0; i < 3; ++i) budget.request_made();
  EXPECT_FALSE(budget.take());
  budget.request_made();
  EXPECT_TRUE(budget.take());
  for (int i = 0; i < 100; ++i) budget.request_made();
  EXPECT_TRUE(budget.take());
  EXPECT_TRUE(budget.take());
  EXPECT_FALSE(budget.take()) << "it holds no more than the most";
}

}  // namespace
}  // namespace stoker
