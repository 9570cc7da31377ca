// What a loader tells of itself is what it did.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "stoker/base/clock.h"
#include "stoker/base/machine.h"
#include "stoker/base/watchdog_testing.h"
#include "stoker/plan/device_batch.h"
#include "stoker/runtime/held_device_testing.h"
#include "stoker/runtime/loader_testing.h"
#include "stoker/runtime/report/metrics_window.h"
#include "stoker/storage/source.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;

/// Reads until it is so, and once more: when that began. Tests have a watchdog for what never is.
template <typename Predicate>
Metrics when(const Loader& loader, Predicate is_so) {
  while (!is_so(loader.metrics())) std::this_thread::yield();
  return loader.metrics();
}

std::vector<std::string_view> stages_of(const Metrics& metrics, std::string_view side) {
  std::vector<std::string_view> names;
  for (const StageTime& stage : MetricsWindow(metrics).stages()) {
    if (stage.side == side) names.push_back(stage.name);
  }
  return names;
}

/// Of an epoch with this device.
Metrics metrics_with(const std::string& device, int transfer_index) {
  const MemoryDataset data = memory_dataset({.width = 200, .height = 160, .indexed = true});
  Loader loader(data.dataset, Recipe().decode().resize(100, 100).normalize("imagenet"),
                {.batch = 10, .epochs_end = 1, .device = open_device(device), .transfer_index = transfer_index});
  for (const BatchPtr& batch : loader.epoch(0)) EXPECT_EQ(batch->valid_count(), 10);
  return loader.metrics();
}

TEST(LoaderMetrics, TellOfStagesAsTheyRan) {
  const Metrics on_cpu = metrics_with("cpu", kTransferIndexMax);
  EXPECT_THAT(stages_of(on_cpu, "cpu"), ElementsAre("decode", "geometry+color"));
  EXPECT_THAT(stages_of(on_cpu, "device"), ElementsAre());
  const std::vector<std::vector<std::string_view>> cpu = {
      {"hand-over"}, {"hand-over", "decode"}, {"decode", "geometry"}, {"decode", "geometry+color"}};
  const std::vector<std::vector<std::string_view>> device = {
      {"decode", "geometry+color"}, {"geometry+color"}, {"color"}, {}};
  for (int index = 0; index <= kTransferIndexMax; ++index) {
    const Metrics metrics = metrics_with("emulated:h100", index);
    EXPECT_EQ(stages_of(metrics, "cpu"), cpu[static_cast<std::size_t>(index)]) << index;
    EXPECT_EQ(stages_of(metrics, "device"), device[static_cast<std::size_t>(index)]) << index;
  }
}

TEST(LoaderMetrics, StagesAddUp) {
  const MetricsWindow window(metrics_with("emulated:h100", 0));
  EXPECT_EQ(window[Metric::kDeviceNs], window[stage_ns(StageSide::kDevice, Stage::kDecode)] +
                                           window[stage_ns(StageSide::kDevice, Stage::kGeometry, Stage::kColor)] +
                                           window[stage_ns(StageSide::kDevice, Stage::kColor)]);
  double cpu_s = 0;
  for (const StageTime& stage : window.stages()) cpu_s += stage.side == "cpu" ? stage.seconds : 0;
  EXPECT_GT(cpu_s, 0);
  EXPECT_LE(cpu_s, window.seconds_of(Metric::kWorkerBusyNs));
}

TEST(LoaderMetrics, WorkersTimesAreAllTheTimeThatTheyHad) {
  const MemoryDataset data = memory_dataset();
  const std::int64_t began = now_ns();
  Loader loader(data.dataset, small_recipe(), {.batch = 10, .threads = 3, .epochs_end = 1});
  audit_of(loader, 1);
  const Metrics first = when(loader, [](const Metrics& now) {
    return std::all_of(now.workers.begin(), now.workers.end(),
                       [](const WorkerTimes& times) { return times.idle_ns > 0; });
  });
  ASSERT_EQ(first.workers.size(), 3u);
  // They idle from here on, which shows while they do.
  const Metrics later = when(loader, [&](const Metrics& now) {
    const std::int64_t idle = now[Metric::kWorkerIdleNs] - first[Metric::kWorkerIdleNs];
    return idle > 1'000'000 && now.at_ns > first.at_ns + 1'000'000;
  });
  for (std::size_t number = 0; number < 3; ++number) {
    const std::int64_t all = later.workers[number].busy_ns + later.workers[number].idle_ns;
    EXPECT_LE(all, now_ns() - began);
    EXPECT_GE(all, later.at_ns - first.at_ns);
  }
  loader.set({.threads = 1});
  loader.set({.threads = 2});
  EXPECT_EQ(loader.metrics().workers.size(), 3u) << "what one did that is gone is not forgotten";
  loader.close();
  const Metrics closed = loader.metrics();
  EXPECT_EQ(loader.metrics()[Metric::kWorkerIdleNs], closed[Metric::kWorkerIdleNs])
      << "a worker that is gone does not idle";
}

// How many wait in each place: reads to be started, and under way; tickets for a batch, for a worker; batches.
std::vector<std::int64_t> levels_of(const Metrics& metrics) {
  return {metrics[Metric::kReadsWaiting], metrics[Metric::kReadsInFlight], metrics[Metric::kTicketsParked],
          metrics[Metric::kTicketsReady], metrics[Metric::kBatchesReady]};
}

TEST(LoaderMetrics, LevelsAreWhatWaits) {
  Watchdog watchdog;
  const MemoryDataset held = memory_dataset({.samples = 60, .faults = {.hold = true}});
  Loader loader(held.dataset, small_recipe(), {.batch = 10, .prefetch = 2, .io_depth = 4, .epochs_end = 1});
  loader.start_epoch(0);
  const std::vector<std::int64_t> all_drawn = {26, 4, 0, 0, 0};
  // And the reader, which had the last of them to do, rests from some time on.
  Metrics begin = loader.metrics(), end = begin;
  while (end.at_ns < begin.at_ns + 1'000'000) {
    std::this_thread::yield();
    end = loader.metrics();
    const bool rested = end[Metric::kReaderStallNs] - begin[Metric::kReaderStallNs] == end.at_ns - begin.at_ns;
    if (levels_of(begin) != all_drawn || !rested) begin = end;
  }
  const MetricsWindow still(begin, end);
  EXPECT_DOUBLE_EQ(still.mean(Metric::kReadNs), 4);
  EXPECT_DOUBLE_EQ(still.mean(Metric::kReadsWaitingNs), 26);
  EXPECT_DOUBLE_EQ(still.mean(Metric::kBatchesReadyNs), 0);
  EXPECT_DOUBLE_EQ(still.mean(Metric::kReaderStallNs), 1);

  held.source->release_all();
  const std::vector<std::int64_t> all_made = {0, 0, 10, 0, 2};  // the third batch has no memory
  EXPECT_EQ(when(loader, [&](const Metrics& now) { return levels_of(now) == all_made; })[Metric::kReads], 30);
  EXPECT_EQ(audit_of(loader, 1).size(), 60u);
  EXPECT_THAT(levels_of(loader.metrics()), testing::Each(0));
}

TEST(LoaderMetrics, TicketsWithoutRoomAreBlocked) {
  Watchdog watchdog;
  const MemoryDataset held =
      memory_dataset({.samples = 40, .width = 400, .height = 400, .faults = {.hold = true}, .gap = 10});
  LoaderOptions options{.batch = 20, .prefetch = 1, .epochs_end = 1};
  options.memory = memory_bytes_min(*held.dataset, small_recipe(), options);
  ASSERT_GT(held.dataset->bytes(), std::uint64_t{2} << 20) << "twice what the arena has";
  Loader loader(held.dataset, small_recipe(), options);
  loader.start_epoch(0);
  when(loader, [](const Metrics& now) { return now[Metric::kTicketsBlocked] > 0; });
  held.source->release_all();
  EXPECT_EQ(audit_of(loader, 1).size(), 40u);
  EXPECT_EQ(loader.metrics()[Metric::kTicketsBlocked], 0);
  EXPECT_GT(loader.metrics()[Metric::kTicketsBlockedNs], 0);
}

TEST(LoaderMetrics, MoreIsReadAheadOnceAWorkerStarves) {
  if (usable_cores() < 2) GTEST_SKIP() << "no core would be idle while this test waits";
  Watchdog watchdog;
  constexpr std::int64_t kFew = std::int64_t{8} << 20;
  const MemoryDataset held = memory_dataset({.samples = 40, .width = 900, .height = 900, .faults = {.hold = true}});
  ASSERT_GT(static_cast<std::int64_t>(held.dataset->bytes()), 3 * kFew / 2);
  Loader loader(held.dataset, small_recipe(), {.batch = 20, .threads = 1, .prefetch = 1, .epochs_end = 1});
  loader.start_epoch(0);
  const Metrics blocked = when(loader, [](const Metrics& now) { return now[Metric::kTicketsBlocked] > 0; });
  EXPECT_LE(blocked[Metric::kReadAheadBytes], kFew);
  held.source->wait_until_held(2);
  held.source->release(0);  // its worker has nothing to do after it, for some time
  const Metrics idle =
      when(loader, [](const Metrics& now) { return now[stage_ns(StageSide::kCpu, Stage::kDecode)] > 0; });
  when(loader,
       [&](const Metrics& now) { return now[Metric::kWorkerIdleNs] > idle[Metric::kWorkerIdleNs] + 2'000'000; });
  held.source->release(0);
  when(loader, [](const Metrics& now) { return now[Metric::kReadAheadBytes] > kFew; });
  held.source->release_all();
  EXPECT_EQ(audit_of(loader, 1).size(), 40u);
}

TEST(LoaderMetrics, AWaitThatLastsIsSeen) {
  Watchdog watchdog;
  const MemoryDataset held = memory_dataset({.faults = {.hold = true}});
  Loader loader(held.dataset, small_recipe(), {.batch = 10, .epochs_end = 1});
  std::jthread consumer([&] { EXPECT_EQ(audit_of(loader, 1).size(), 50u); });
  const Metrics begin = when(loader, [](const Metrics& now) { return now[Metric::kConsumerWaitNs] > 0; });
  const Metrics end = when(loader, [&](const Metrics& now) { return now.at_ns >= begin.at_ns + 1'000'000; });
  EXPECT_DOUBLE_EQ(MetricsWindow(begin, end).wait_share(), 1);
  held.source->release_all();
}

TEST(LoaderMetrics, StepsAreWhatTheConsumerDoesBetweenBatches) {
  const MemoryDataset data = memory_dataset();
  Loader loader(data.dataset, small_recipe(), {.batch = 10, .epochs_end = 3});
  std::int64_t least = 0, most = 0;
  for (int epoch = 0; epoch < 2; ++epoch) {
    loader.start_epoch(epoch);
    std::int64_t asked = now_ns();
    for (BatchPtr batch = loader.next(); batch;) {
      const std::int64_t got = now_ns();
      batch.reset();
      while (now_ns() < got + 500'000) continue;
      const std::int64_t ended = now_ns();
      batch = loader.next();
      least += ended - got;
      most += now_ns() - asked;
      asked = got;
    }
  }
  loader.start_epoch(2);
  const BatchPtr left = loader.next();
  loader.start_epoch(0);  // what follows a batch after which no other is asked for is not a step
  Metrics metrics = loader.metrics();
  EXPECT_EQ(metrics[Metric::kConsumerSteps], 10);
  EXPECT_GE(metrics[Metric::kConsumerStepNs], least);
  EXPECT_LE(metrics[Metric::kConsumerStepNs], most);
  EXPECT_GE(MetricsWindow(metrics).step_s(), 500e-6);
}

TEST(LoaderMetrics, BytesAreCountedWhereTheyComeFrom) {
  const MemoryDataset data = memory_dataset();
  // In this order no sample comes again while its reads wait: those that wait together are read once.
  Loader loader(data.dataset, small_recipe(),
                {.batch = 10, .threads = 1, .order = OrderKind::kNone, .cache = CacheKind::kRam, .epochs_end = 3});
  audit_of(loader, 3);
  const Metrics metrics = loader.metrics();
  const auto bytes = static_cast<std::int64_t>(data.dataset->bytes());
  EXPECT_EQ(metrics[Metric::kBytesRead] + metrics[Metric::kBytesFromCache], 3 * bytes);
  EXPECT_EQ(metrics[Metric::kReads] + metrics[Metric::kCacheHits], 150);
  EXPECT_GE(metrics[Metric::kBytesFromCache], bytes) << "of the last epoch all";
}

TEST(LoaderMetrics, KnobsAreAmongThem) {
  const MemoryDataset data = memory_dataset();
  Loader loader(data.dataset, small_recipe(), {.batch = 10, .threads = 2, .prefetch = 3, .io_depth = 5});
  const auto knobs = [&] {
    const Metrics metrics = loader.metrics();
    return std::vector{metrics[Metric::kThreads], metrics[Metric::kPrefetch], metrics[Metric::kIoDepth],
                       metrics[Metric::kTransferIndex]};
  };
  EXPECT_THAT(knobs(), ElementsAre(2, 3, 5, kTransferIndexMax));
  loader.set({.threads = 1, .prefetch = 4, .io_depth = 6});
  EXPECT_THAT(knobs(), ElementsAre(1, 4, 6, kTransferIndexMax));
}

TEST(LoaderMetrics, WhatABatchWaitsForIsReadBeforeWhatIsReadAhead) {
  Watchdog watchdog;
  // The first sample is bad, which is not known before all others are drawn.
  const MemoryDataset held = memory_dataset({.samples = 40, .bad = {0}, .faults = {.hold = true}});
  Loader loader(held.dataset, small_recipe(),
                {.batch = 2, .threads = 1, .prefetch = 8, .io_depth = 1, .order = OrderKind::kNone, .epochs_end = 1});
  loader.start_epoch(0);
  const auto wait_for_waiting = [&](std::int64_t reads) {
    when(loader, [&](const Metrics& now) { return now[Metric::kReadsWaiting] == reads; });
  };
  wait_for_waiting(17);
  held.source->wait_until_held(1);
  held.source->release(0);  // sample 0; sample 1 is under way then
  held.source->wait_until_held(1);
  wait_for_waiting(17);     // its substitute has come to those that wait
  held.source->release(0);  // sample 1; the substitute is under way
  held.source->wait_until_held(1);
  held.source->release(0);
  EXPECT_EQ(loader.next()->substituted_for[0], 0);
  EXPECT_EQ(loader.metrics()[Metric::kReads], 3);
  held.source->release_all();
}

}  // namespace
}  // namespace stoker
