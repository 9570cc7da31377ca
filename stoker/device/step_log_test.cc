#include "stoker/device/step_log.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

StepEnd on_time(std::int64_t milliseconds) {
  return {.nominal_ns = milliseconds * kMillisecond, .real_ns = milliseconds * kMillisecond};
}

TEST(StepLog, LeavesTheFirstStepOutAndCountsNominalSecondsOnly) {
  StepLog log(0.010);
  log.start_epoch(0);
  log.end_step(8, on_time(500));  // the loader started
  log.end_step(8, on_time(510));
  log.end_step(8, on_time(530));  // a late batch
  log.end_step(8, on_time(550));  // a step that took longer than its profile says
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
  log.end_step(1, on_time(10));
  log.end_step(1, on_time(20));
  log.start_epoch(1000 * kMillisecond);
  log.end_step(1, on_time(1010));
  log.end_step(1, on_time(1050));
  ASSERT_EQ(log.epochs().size(), 2u);
  EXPECT_DOUBLE_EQ(log.epochs()[0].utilisation_percent.value(), 100);
  EXPECT_DOUBLE_EQ(log.epochs()[1].utilisation_percent.value(), 25);
  EXPECT_DOUBLE_EQ(log.epochs()[1].seconds, 0.050);
}

TEST(StepLog, NeverGainsByAProcessThatWakesUpLate) {
  StepLog log(0.010);
  log.start_epoch(0);
  const auto late = [](std::int64_t end, std::int64_t by) {
    return StepEnd{.nominal_ns = end * kMillisecond, .real_ns = (end + by) * kMillisecond};
  };
  log.end_step(1, late(10, 8));
  log.end_step(1, late(20, 0));
  EXPECT_DOUBLE_EQ(log.epochs()[0].utilisation_percent.value(), 100);
  log.end_step(1, late(30, 5));
  EXPECT_DOUBLE_EQ(log.epochs()[0].utilisation_percent.value(), 80) << "two steps of 10 ms in 25 ms";
  EXPECT_DOUBLE_EQ(log.epochs()[0].seconds, 0.035);
}

TEST(StepLog, KnowsNoUtilisationBeforeTheSecondStep) {
  StepLog log(0.010);
  EXPECT_TRUE(log.epochs().empty());
  log.start_epoch(0);
  EXPECT_EQ(log.epochs()[0].samples_per_s(), 0);
  log.end_step(1, on_time(10));
  EXPECT_FALSE(log.epochs()[0].utilisation_percent.has_value());
}

}  // namespace
}  // namespace stoker
