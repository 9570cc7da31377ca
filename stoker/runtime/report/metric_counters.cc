#include "stoker/runtime/report/metric_counters.h"

#include <algorithm>
#include <cassert>
#include <optional>

namespace stoker {
namespace {

/// Where a level's time, and the level itself if anybody wants to know it, stand in the table.
struct LevelSpec {
  Metric time;
  std::optional<Metric> level{};
};

constexpr std::array<LevelSpec, static_cast<std::size_t>(Level::kCount)> kLevels = {{
    {Metric::kReaderStallNs},
    {Metric::kConsumerWaitNs},
    {Metric::kConsumerWaitReadsNs},
    {Metric::kConsumerWaitWorkersNs},
    {Metric::kConsumerWaitDeviceNs},
    {Metric::kReadNs, Metric::kReadsInFlight},
    {Metric::kDiskNs},
    {Metric::kReadsWaitingNs, Metric::kReadsWaiting},
    {Metric::kTicketsBlockedNs, Metric::kTicketsBlocked},
    {Metric::kTicketsReadyNs, Metric::kTicketsReady},
    {Metric::kTicketsParkedNs, Metric::kTicketsParked},
    {Metric::kBatchesReadyNs, Metric::kBatchesReady},
}};

}  // namespace

void MetricCounters::observe(const Levels& levels) {
  bool any = false;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (levels_[i].level() == levels[i]) continue;
    levels_[i].begin_change();
    any = true;
  }
  if (!any) return;
  const std::int64_t now = now_ns();
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (levels_[i].level() != levels[i]) levels_[i].end_change(levels[i], now);
  }
}

void MetricCounters::have_workers(int count) {
  assert(count <= kThreadsMax);
  while (owned_.size() * kChunk < static_cast<std::size_t>(count)) {
    owned_.push_back(std::make_unique<Chunk>());
    chunks_[owned_.size() - 1].store(owned_.back().get(), std::memory_order_release);
  }
  workers_.store(std::max(count, workers_.load(std::memory_order_relaxed)), std::memory_order_release);
}

WorkerCounters& MetricCounters::worker(int number) const {
  const auto at = static_cast<std::size_t>(number);
  return (*chunks_[at / kChunk].load(std::memory_order_acquire))[at % kChunk];
}

Metrics MetricCounters::read() const {
  Metrics metrics;
  metrics.at_ns = now_ns();
  for (std::size_t i = 0; i < values_.size(); ++i) metrics.values[i] = values_[i].load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    const Occupancy::Reading reading = levels_[i].read(metrics.at_ns);
    metrics[kLevels[i].time] += reading.level_ns;
    if (kLevels[i].level) metrics[*kLevels[i].level] = reading.level;
  }
  const int workers = workers_.load(std::memory_order_acquire);
  metrics.workers.reserve(static_cast<std::size_t>(workers));
  for (int number = 0; number < workers; ++number) {
    const WorkerCounters& counters = worker(number);
    const WorkerTimes& times = metrics.workers.emplace_back(
        WorkerTimes{counters.busy_.read(metrics.at_ns).level_ns, counters.idle_.read(metrics.at_ns).level_ns});
    metrics[Metric::kWorkerBusyNs] += times.busy_ns;
    metrics[Metric::kWorkerIdleNs] += times.idle_ns;
    for (std::size_t i = 0; i < counters.values_.size(); ++i) {
      metrics.values[static_cast<std::size_t>(WorkerCounters::kFirst) + i] +=
          counters.values_[i].load(std::memory_order_relaxed);
    }
  }
  return metrics;
}

}  // namespace stoker
