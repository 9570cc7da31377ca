#include "stoker/runtime/report/step_keeper.h"

#include <gtest/gtest.h>

#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

constexpr StepKey kKeeperKey = {.data = 3, .recipe = 5};

// Steps of 40 ms, and as long a wait for each.
LoaderReport report_of_steps(int steps) {
  LoaderReport report;
  report.steps = steps;
  report.batch_samples = 8;
  report.seconds = 0.08 * steps;
  report.wait_s = 0.04 * steps;
  return report;
}

class StepKeeperTest : public ::testing::Test {
 protected:
  void step(int times) {
    for (int i = 0; i < times; ++i) steps_.add(40'000'000, 40'000'000);
  }
  std::optional<StepRecord> kept() const { return KeptStep(cache_.path(), kKeeperKey).load(); }

  TempFolder cache_;
  StepTimes steps_;
  StepKeeper keeper_{KeptStep(cache_.path(), kKeeperKey), 8, 2};
};

TEST_F(StepKeeperTest, KeepsStepsWithoutTheirWaits) {
  step(StepKeeper::kStepsLeast);
  keeper_.rest(steps_, report_of_steps(StepKeeper::kStepsLeast));
  ASSERT_TRUE(kept());
  EXPECT_EQ(kept()->how, "waits");
  EXPECT_DOUBLE_EQ(kept()->median_s, 0.04);
  EXPECT_EQ(kept()->count, StepKeeper::kStepsLeast);
  EXPECT_EQ(kept()->batch, 8);
  EXPECT_EQ(kept()->world, 2);
}

TEST_F(StepKeeperTest, KeepsNothingOfAFewSteps) {
  step(StepKeeper::kStepsLeast - 1);
  keeper_.rest(steps_, report_of_steps(StepKeeper::kStepsLeast - 1));
  EXPECT_FALSE(kept());
}

TEST_F(StepKeeperTest, KeepsNothingWhereThereIsNoStepToFeed) {
  step(StepKeeper::kStepsLeast);
  LoaderReport report = report_of_steps(StepKeeper::kStepsLeast);
  report.wait_s = report.seconds;
  keeper_.rest(steps_, report);
  EXPECT_FALSE(kept());
}

TEST_F(StepKeeperTest, LeavesWhatAReplayMeasured) {
  StepKeeper earlier(KeptStep(cache_.path(), kKeeperKey), 8, 2);  // whose record is not too young to be replaced
  earlier.replayed({.count = 30, .mean_s = 0.1, .median_s = 0.1, .low_s = 0.1, .high_s = 0.1});
  step(StepKeeper::kStepsLeast);
  LoaderReport report = report_of_steps(StepKeeper::kStepsLeast);
  report.headspace.emplace();
  keeper_.rest(steps_, report);
  ASSERT_TRUE(kept());
  EXPECT_EQ(kept()->how, "replay");
  EXPECT_DOUBLE_EQ(kept()->median_s, 0.1);
}

TEST_F(StepKeeperTest, KeepsNoSecondOneSoonAfterTheFirst) {
  step(StepKeeper::kStepsLeast);
  keeper_.rest(steps_, report_of_steps(StepKeeper::kStepsLeast));
  step(1);
  keeper_.rest(steps_, report_of_steps(StepKeeper::kStepsLeast + 1));
  ASSERT_TRUE(kept());
  EXPECT_EQ(kept()->count, StepKeeper::kStepsLeast);
}

}  // namespace
}  // namespace stoker
