#include "stoker/tuner/search_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "stoker/tuner/plant/plant_testing.h"

namespace stoker {
namespace {

using testing::HasSubstr;

constexpr KnobSetting kFew = {.threads = 2, .transfer_index = 3, .prefetch = 4, .io_depth = 8};
constexpr KnobSetting kMore = {.threads = 3, .transfer_index = 3, .prefetch = 4, .io_depth = 8};

TunedWorkload workload() {
  TunedWorkload work = told_workload(photograph_parts(1));
  work.io_depth_max = 32;
  return work;
}

// Of one second, in which training waited half of it; `step` times as long as usual, and so is all.
TunerWindow window(double step) {
  return {.samples = 640, .seconds = step, .wait_s = 0.5 * step, .step_s = 0.05 * step, .stages = {}};
}

class SearchWatchTest : public testing::Test {
 protected:
  SearchWatchTest() { watch_.begin(); }

  void see(const KnobSetting& knobs, double step, std::optional<Belief> before = std::nullopt) {
    odd_ = SearchWatch::oddness(beliefs_, knobs, window(step));
    beliefs_.see(knobs, window(step), before);
  }

  SettingBeliefs beliefs_{workload(), {}};
  SearchWatch watch_;
  double odd_ = 0;
};

TEST_F(SearchWatchTest, FindsNothingWhereAllStaysAsItIs) {
  for (int i = 0; i < 6; ++i) {
    see(kFew, 1 + 0.01 * (i % 2));
    EXPECT_FALSE(watch_.changed(beliefs_, kFew)) << i;
    EXPECT_FALSE(watch_.check(beliefs_, kFew, odd_)) << i;
  }
}

TEST_F(SearchWatchTest, WantsASecondWindowBeforeItBelievesAChange) {
  for (int i = 0; i < 4; ++i) see(kFew, 1);
  see(kFew, 1.5);
  EXPECT_FALSE(watch_.changed(beliefs_, kFew));
  const auto check = watch_.check(beliefs_, kFew, odd_);
  ASSERT_TRUE(check);
  EXPECT_EQ(check->knobs, kFew);
  EXPECT_THAT(check->why, HasSubstr("have changed (+50%)"));
  see(kFew, 1.5);
  ASSERT_TRUE(watch_.changed(beliefs_, kFew));
  EXPECT_NEAR(watch_.changed(beliefs_, kFew)->by, std::log(1.5), 1e-9);
}

TEST_F(SearchWatchTest, GoesBackFromASettingThatIsUnlikeTheOthersOnce) {
  for (int i = 0; i < 4; ++i) see(kFew, 1);
  ASSERT_FALSE(watch_.check(beliefs_, kFew, odd_));
  see(kMore, 1.5, Belief{std::log(640.0), 0.01});
  const auto back = watch_.check(beliefs_, kMore, odd_);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->knobs, kFew);
  EXPECT_THAT(back->why, HasSubstr("returns to 2 threads"));
  see(kFew, 1, Belief{std::log(640 / 1.5), 0.01});
  const auto again = watch_.check(beliefs_, kFew, odd_);
  ASSERT_TRUE(again);
  EXPECT_THAT(again->why, HasSubstr("to see whether something has changed"));
  see(kFew, 1);
  EXPECT_FALSE(watch_.check(beliefs_, kFew, odd_));
  EXPECT_EQ(watch_.take_tried(kFew), kMore);
  EXPECT_EQ(watch_.take_tried(kFew), kFew);
}

TEST_F(SearchWatchTest, ComparesTheSettingThatWasLeftTheLongestAgoOnceInASearch) {
  see(kMore, 1);
  for (int i = 0; i < 4; ++i) see(kFew, 1);
  beliefs_.learn_surfaces();
  const Standing best = beliefs_.standing(kFew);
  const auto check = watch_.last_check(beliefs_, best);
  ASSERT_TRUE(check);
  EXPECT_EQ(check->knobs, kMore);
  EXPECT_FALSE(watch_.last_check(beliefs_, best));
  watch_.begin();
  EXPECT_TRUE(watch_.last_check(beliefs_, best));
}

}  // namespace
}  // namespace stoker
