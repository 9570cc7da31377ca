#include "stoker/runtime/report/step_times.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(StepSummary, HasMeanMedianAndQuartiles) {
  const StepSummary summary = summary_of({5, 1, 2, 4, 13});
  EXPECT_EQ(summary.count, 5);
  EXPECT_DOUBLE_EQ(summary.mean_s, 5);
  EXPECT_DOUBLE_EQ(summary.median_s, 4);
  EXPECT_DOUBLE_EQ(summary.low_s, 2);
  EXPECT_DOUBLE_EQ(summary.high_s, 5);
  EXPECT_DOUBLE_EQ(summary_of({1, 2}).median_s, 1.5);
  EXPECT_EQ(summary_of({}).count, 0);
}

TEST(StepTimes, KeepsTheLastOnes) {
  StepTimes times;
  times.add(7'000'000'000, 3'000'000'000);
  EXPECT_DOUBLE_EQ(times.alone().median_s, 7);
  EXPECT_DOUBLE_EQ(times.with_waits().median_s, 10);
  for (std::size_t i = 0; i < StepTimes::kKept; ++i) times.add(1'000'000'000, 0);
  EXPECT_EQ(times.count(), static_cast<std::int64_t>(StepTimes::kKept) + 1);
  EXPECT_EQ(times.alone().count, static_cast<std::int64_t>(StepTimes::kKept));
  EXPECT_DOUBLE_EQ(times.with_waits().high_s, 1) << "the first one is forgotten";
}

TEST(StepText, HasAUnitThatSuitsIt) {
  EXPECT_EQ(step_text(0.0123), "12.3 ms");
  EXPECT_EQ(step_text(1.25), "1.2 s");
}

}  // namespace
}  // namespace stoker
