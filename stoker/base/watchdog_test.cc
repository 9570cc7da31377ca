#include <gtest/gtest.h>

#include <future>

#include "stoker/base/watchdog_testing.h"

namespace stoker {
namespace {

TEST(WatchdogDeathTest, EndsATestThatHangsAndSaysWhere) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_DEATH(
      {
        Watchdog watchdog(std::chrono::milliseconds(500));
        watchdog.begin("the second round");
        std::promise<void>().get_future().wait();
      },
      "EndsATestThatHangsAndSaysWhere hangs: the second round has taken 500 ms");
}

TEST(Watchdog, LeavesATestAloneThatEnds) {
  Watchdog watchdog;
  watchdog.begin("the only round");
}

}  // namespace
}  // namespace stoker
