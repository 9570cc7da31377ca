#include "stoker/tuner/change_watch.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stoker/base/random.h"

namespace stoker {
namespace {

class ChangeWatchTest : public ::testing::Test {
 protected:
  // Normally distributed, with the standard deviation of one spread.
  double noise() {
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += random_.uniform();
    return kSpread * (sum - 6);
  }
  // How many windows of this value it takes until the watch says so; 0: never.
  int windows_until_seen(double value, int windows) {
    for (int i = 1; i <= windows; ++i) {
      if (watch_.see(value + noise(), 0.03)) return i;
    }
    return 0;
  }

  static constexpr double kSpread = 0.02;
  Random random_{7, 0, 0, 0};
  ChangeWatch watch_;
};

TEST_F(ChangeWatchTest, DoesNotMindNoise) {
  watch_.begin(3, 16, kSpread);
  EXPECT_EQ(windows_until_seen(3, 20'000), 0);
}

TEST_F(ChangeWatchTest, SeesALargeChangeInThreeWindows) {
  for (const double change : {-0.5, 0.3}) {
    watch_.begin(3, 16, kSpread);
    windows_until_seen(3, 100);
    EXPECT_EQ(windows_until_seen(3 + change, 100), 3) << change;
  }
}

TEST_F(ChangeWatchTest, SeesASmallOneThatLasts) {
  watch_.begin(3, 16, kSpread);
  windows_until_seen(3, 100);
  const int windows = windows_until_seen(3 - 2.5 * kSpread, 100);
  EXPECT_GT(windows, 3);
  EXPECT_LT(windows, 20);
}

TEST_F(ChangeWatchTest, LeavesOneStrangeWindowBe) {
  watch_.begin(3, 16, kSpread);
  for (int round = 0; round < 20; ++round) {
    EXPECT_FALSE(watch_.see(2, 0.03));
    EXPECT_EQ(windows_until_seen(3, 20), 0) << round;
  }
}

TEST_F(ChangeWatchTest, FollowsASlowDrift) {
  watch_.begin(3, 16, kSpread);
  double value = 3;
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(watch_.see(value += 2e-4, 0.03));
}

TEST_F(ChangeWatchTest, LeavesChangesThatDoNotMatter) {
  watch_.begin(3, 16, 0.002);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(watch_.see(3.02, 0.03)) << "far beyond noise, but of two per cent";
}

}  // namespace
}  // namespace stoker
