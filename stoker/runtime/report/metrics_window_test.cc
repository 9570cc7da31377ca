#include "stoker/runtime/report/metrics_window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stoker {
namespace {

using ::testing::ElementsAre;

Metrics reading(std::int64_t at_ns, std::initializer_list<std::pair<Metric, std::int64_t>> values) {
  Metrics metrics;
  metrics.at_ns = at_ns;
  for (const auto& [metric, value] : values) metrics[metric] = value;
  return metrics;
}

/// Two seconds of a loader.
MetricsWindow two_seconds() {
  const Metrics begin = reading(5'000'000'000, {{Metric::kSamples, 100},
                                                {Metric::kConsumerWaitNs, 200'000'000},
                                                {Metric::kConsumerSteps, 3},
                                                {Metric::kConsumerStepNs, 900'000'000},
                                                {stage_ns(StageSide::kCpu, Stage::kDecode), 4'000'000'000},
                                                {Metric::kWorkerBusyNs, 1'000'000'000},
                                                {Metric::kReadNs, 1'000'000'000},
                                                {Metric::kThreads, 1}});
  const Metrics end = reading(7'000'000'000, {{Metric::kSamples, 500},
                                              {Metric::kConsumerWaitNs, 700'000'000},
                                              {Metric::kConsumerSteps, 8},
                                              {Metric::kConsumerStepNs, 2'400'000'000},
                                              {stage_ns(StageSide::kCpu, Stage::kDecode), 6'000'000'000},
                                              {stage_ns(StageSide::kCpu, Stage::kGeometry, Stage::kColor), 500'000'000},
                                              {stage_ns(StageSide::kDevice, Stage::kColor), 250'000'000},
                                              {Metric::kWorkerBusyNs, 4'000'000'000},
                                              {Metric::kWorkerIdleNs, 1'000'000'000},
                                              {Metric::kReadNs, 9'000'000'000},
                                              {Metric::kReadsInFlight, 6},
                                              {Metric::kThreads, 2}});
  return {begin, end};
}

TEST(MetricsWindow, IsTheDifferenceOfTwoReadings) {
  const MetricsWindow window = two_seconds();
  EXPECT_DOUBLE_EQ(window.seconds(), 2);
  EXPECT_EQ(window[Metric::kSamples], 400);
  EXPECT_DOUBLE_EQ(window.samples_per_s(), 200);
  EXPECT_DOUBLE_EQ(window.mean(Metric::kReadNs), 4);
  EXPECT_EQ(window[Metric::kReadsInFlight], 6) << "gauges and knobs are as they stand";
  EXPECT_EQ(window[Metric::kThreads], 2);
}

TEST(MetricsWindow, HasTheConsumersWaitAndStep) {
  const MetricsWindow window = two_seconds();
  EXPECT_DOUBLE_EQ(window.wait_s(), 0.5);
  EXPECT_DOUBLE_EQ(window.wait_share(), 0.25);
  EXPECT_DOUBLE_EQ(window.step_s().value(), 0.3);
}

TEST(MetricsWindow, HasTheTimeOfStages) {
  const MetricsWindow window = two_seconds();
  std::vector<std::string> stages;
  for (const StageTime& stage : window.stages()) {
    stages.push_back(std::string(stage.side) + " " + std::string(stage.name) + " " + std::to_string(stage.seconds));
  }
  EXPECT_THAT(stages, ElementsAre("cpu decode 2.000000", "cpu geometry+color 0.500000", "device color 0.250000"));
}

TEST(MetricsWindow, OfNothingIsNothing) {
  const Metrics same = reading(1000, {{Metric::kSamples, 3}, {Metric::kWorkerIdleNs, 2}});
  const MetricsWindow window(same, same);
  EXPECT_EQ(window.samples_per_s(), 0);
  EXPECT_EQ(window.wait_share(), 0);
  EXPECT_EQ(window.step_s(), std::nullopt);
  EXPECT_EQ(window.mean(Metric::kReadNs), 0);
  EXPECT_TRUE(window.stages().empty());
}

}  // namespace
}  // namespace stoker
