#include "stoker/runtime/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>

#include "stoker/base/clock.h"
#include "stoker/runtime/report/metrics_window.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;

void set(Occupancy& occupancy, std::int64_t level, std::int64_t now) {
  occupancy.begin_change();
  occupancy.end_change(level, now);
}

TEST(Occupancy, IsALevelAndItsIntegral) {
  Occupancy waiting;
  EXPECT_EQ(waiting.read(1000).level_ns, 0);
  set(waiting, 3, 1000);
  set(waiting, 5, 1100);
  set(waiting, 0, 1110);
  set(waiting, 2, 2000);
  EXPECT_EQ(waiting.read(2000).level_ns, 3 * 100 + 5 * 10);
  EXPECT_EQ(waiting.read(2007).level_ns, 350 + 2 * 7) << "what lasts counts while it lasts";
  EXPECT_EQ(waiting.read(2007).level, 2);
}

TEST(Occupancy, NeverGoesBackWhereClocksOfThreadsAreReadInAnotherOrder) {
  Occupancy waiting;
  set(waiting, 1, 1000);
  set(waiting, 2, 990);
  EXPECT_EQ(waiting.read(995).level_ns, 0);
  EXPECT_EQ(waiting.read(1010).level_ns, 20);
}

TEST(Occupancy, IsReadWholeWhileItChanges) {
  Occupancy waiting;
  std::atomic<bool> over = false;
  // One at a time, a nanosecond each: whoever sees a part of a change sees more or less time than has passed.
  set(waiting, 2, 1);
  std::jthread changing([&] {
    for (std::int64_t now = 2; now <= 300'000; ++now) set(waiting, now % 2 + 1, now);
    over = true;
  });
  std::int64_t last = 0;
  while (!over) {
    const Occupancy::Reading reading = waiting.read(0);
    ASSERT_GE(reading.level_ns, last);
    // There are 2 and 1 in turn, from 2 on: a multiple of 3 has gone by when there are 2.
    ASSERT_EQ(reading.level, reading.level_ns % 3 == 0 ? 2 : 1) << reading.level_ns;
    last = reading.level_ns;
  }
}

TEST(Metrics, TheTableNamesEachOnce) {
  std::set<std::string_view> names;
  for (const MetricSpec& spec : metric_table()) {
    EXPECT_TRUE(names.insert(spec.name).second && !spec.doc.empty()) << spec.name;
    const bool is_stage = spec.side == "cpu" || spec.side == "device";
    EXPECT_EQ(is_stage, !spec.stage.empty()) << spec.name;
    EXPECT_TRUE(!is_stage || spec.name.ends_with("_ns")) << spec.name;
  }
  const auto name = [](Metric metric) { return metric_table()[static_cast<std::size_t>(metric)].name; };
  EXPECT_EQ(name(Metric::kSamples), "samples");
  EXPECT_EQ(name(Metric::kReadNs), "read_ns");
  EXPECT_EQ(name(Metric::kTransferIndex), "transfer_index");
}

TEST(Metrics, OfWorkersAreSums) {
  MetricCounters counters;
  counters.have_workers(130);  // more than a chunk
  counters.have_workers(3);    // fewer never forget
  counters.worker(0).add(stage_ns(StageSide::kCpu, Stage::kDecode), 5);
  counters.worker(129).add(stage_ns(StageSide::kCpu, Stage::kDecode), 7);
  counters.worker(129).add(Metric::kCacheHits, 1);
  counters.worker(129).begin_idle();
  while (counters.read()[Metric::kWorkerIdleNs] == 0) std::this_thread::yield();
  const Metrics metrics = counters.read();
  EXPECT_EQ(metrics[stage_ns(StageSide::kCpu, Stage::kDecode)], 12);
  EXPECT_EQ(metrics[Metric::kCacheHits], 1);
  ASSERT_EQ(metrics.workers.size(), 130u);
  EXPECT_GT(metrics.workers[129].idle_ns, 0);
  EXPECT_EQ(metrics.workers[129].idle_ns, metrics[Metric::kWorkerIdleNs]);
  EXPECT_EQ(metrics[Metric::kWorkerBusyNs], 0);
}

TEST(Metrics, OfWorkersAreNotLostWhenManyAddAtOnceAndOneReads) {
  constexpr int kWorkers = 4, kRounds = 20'000;
  MetricCounters counters;
  counters.have_workers(kWorkers);
  {
    std::vector<std::jthread> workers;
    workers.reserve(kWorkers);
    for (int number = 0; number < kWorkers; ++number) {
      workers.emplace_back([&counters, number] {
        WorkerCounters& own = counters.worker(number);
        for (int round = 0; round < kRounds; ++round) {
          own.begin_work();
          own.add(stage_ns(StageSide::kCpu, Stage::kGeometry), 2);
          counters.add(Metric::kReads, 1);
          own.begin_idle();
        }
        own.end();
      });
    }
    Metrics last = counters.read();
    while (last[Metric::kReads] < kWorkers * kRounds) {
      const Metrics next = counters.read();
      for (const Metric metric : {stage_ns(StageSide::kCpu, Stage::kGeometry), Metric::kReads, Metric::kWorkerBusyNs,
                                  Metric::kWorkerIdleNs}) {
        ASSERT_GE(next[metric], last[metric]);
      }
      ASSERT_LE(next[Metric::kWorkerBusyNs] + next[Metric::kWorkerIdleNs] - last[Metric::kWorkerBusyNs] -
                    last[Metric::kWorkerIdleNs],
                kWorkers * (now_ns() - last.at_ns));
      last = next;
    }
  }
  EXPECT_EQ(counters.read()[stage_ns(StageSide::kCpu, Stage::kGeometry)], std::int64_t{2} * kWorkers * kRounds);
}

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
  EXPECT_EQ(window.device_step_s(), std::nullopt);
}

TEST(MetricsWindow, HasTheTimeOfStages) {
  const MetricsWindow window = two_seconds();
  EXPECT_DOUBLE_EQ(window.cpu_busy_s(), 2.5);
  EXPECT_DOUBLE_EQ(window.worker_busy_share(), 0.75);
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
  EXPECT_EQ(window.worker_busy_share(), 0);
  EXPECT_EQ(window.mean(Metric::kReadNs), 0);
  EXPECT_TRUE(window.stages().empty());
}

}  // namespace
}  // namespace stoker
