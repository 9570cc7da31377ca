#include "stoker/base/byte_budget.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

namespace stoker {
namespace {

constexpr std::chrono::seconds kHang{60};  // a guard against hanging, not a limit on speed

/// Whether a caller that asks for `wanted` of `budget` gets it once `give` was called.
template <typename Give>
bool is_granted_after(ByteBudget& budget, std::uint64_t wanted, const Give& give) {
  std::stop_source stop;
  std::atomic<bool> asks{false};
  std::future<bool> granted = std::async(std::launch::async, [&] {
    asks = true;
    return budget.take(wanted, stop.get_token()).has_value();
  });
  while (!asks) std::this_thread::yield();
  // So that take() is mostly waiting already; the outcome is the same where it is not.
  for (int i = 0; i < 10; ++i) std::this_thread::yield();
  give();
  if (granted.wait_for(kHang) != std::future_status::ready) stop.request_stop();
  return granted.get();
}

TEST(ByteBudget, GrantsUpToItsLimitAndMoreToOneAlone) {
  std::stop_source stopped;
  stopped.request_stop();
  ByteBudget budget(10);
  const auto is_granted = [&](std::uint64_t bytes) { return budget.take(bytes, stopped.get_token()).has_value(); };
  EXPECT_TRUE(is_granted(10));
  EXPECT_TRUE(is_granted(11)) << "all of it is free";
  {
    const auto four = budget.take(4, {});
    EXPECT_TRUE(is_granted(6));
    EXPECT_FALSE(is_granted(7));
  }
  {
    auto four = budget.take(4, {});
    four->become(15);
    EXPECT_FALSE(is_granted(1)) << "there is less than nothing left";
    four->become(9);
    EXPECT_TRUE(is_granted(1));
  }
  EXPECT_TRUE(is_granted(10));
  EXPECT_EQ(budget.most(), 15u);
}

TEST(ByteBudget, WakesWhoWaitsWhenAGrantShrinksOrGoes) {
  for (int round = 0; round < 50; ++round) {
    ByteBudget budget(10);
    auto all = budget.take(10, {});
    ASSERT_TRUE(is_granted_after(budget, 5, [&] { all->become(4); }));
    ASSERT_TRUE(is_granted_after(budget, 7, [&] { all.reset(); }));
  }
}

}  // namespace
}  // namespace stoker
