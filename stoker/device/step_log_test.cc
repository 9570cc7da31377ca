#include "stoker/device/step_log.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

TEST(StepLog, LeavesTheFirstStepOutAndCountsNominalSecondsOnly) {
  StepLog log(0.010);
  log.start_epoch(0);
  log.end_step(8, 500 * kMillisecond);  // the loader started
  log.end_step(8, 510 * kMillisecond);
  log.end_step(8, 530 * kMillisecond);  // a late batch
  log.end_step(8, 550 * kMillisecond);  // a step that took longer than its profile says
  ASSERT_EQ(log.epochs().size(), 1u);
  const EpochSteps& epoch = log.epochs()[0];
  EXPECT_EQ(epoch.steps, 4);
  EXPECT_EQ(epoch.samples, 32);
  EXPECT_DOUBLE_EQ(epoch.utilisation_percent.value(), 60) << "three steps of 10 ms in 50 ms";
  EXPECT_DOUBLE_EQ(epoch.seconds, 0.550);
  EXPECT_DOUBLE_EQ(epoch.samples_per_s(), 32 / 0.550);
}

TEST(StepLog, ReckonsEachEpochByItself) {
  StepLog log(0.010);
  log.start_epoch(0);
  log.end_step(1, 10 * kMillisecond);
  log.end_step(1, 20 * kMillisecond);
  log.start_epoch(1000 * kMillisecond);
  log.end_step(1, 1010 * kMillisecond);
  log.end_step(1, 1050 * kMillisecond);
  ASSERT_EQ(log.epochs().size(), 2u);
  EXPECT_DOUBLE_EQ(log.epochs()[0].utilisation_percent.value(), 100);
  EXPECT_DOUBLE_EQ(log.epochs()[1].utilisation_percent.value(), 25);
  EXPECT_DOUBLE_EQ(log.epochs()[1].seconds, 0.050);
}

TEST(StepLog, KnowsNoUtilisationBeforeTheSecondStep) {
  StepLog log(0.010);
  EXPECT_TRUE(log.epochs().empty());
  log.start_epoch(0);
  EXPECT_EQ(log.epochs()[0].samples_per_s(), 0);
  log.end_step(1, 10 * kMillisecond);
  EXPECT_FALSE(log.epochs()[0].utilisation_percent.has_value());
}

}  // namespace
}  // namespace stoker
