#include "stoker/runtime/report/metric_counters.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "stoker/base/clock.h"

namespace stoker {
namespace {

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
  // One at a time, a nanosecond each: a reader that sees a part of a change sees more or less time than has passed.
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

}  // namespace
}  // namespace stoker
