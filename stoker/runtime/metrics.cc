#include "stoker/runtime/metrics.h"

#include <cassert>
#include <iterator>
#include <optional>

#include "stoker/base/clock.h"

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
    {Metric::kReadNs, Metric::kReadsInFlight},
    {Metric::kReadsWaitingNs, Metric::kReadsWaiting},
    {Metric::kTicketsBlockedNs, Metric::kTicketsBlocked},
    {Metric::kTicketsReadyNs, Metric::kTicketsReady},
    {Metric::kTicketsParkedNs, Metric::kTicketsParked},
    {Metric::kBatchesReadyNs, Metric::kBatchesReady},
}};

constexpr auto kTable = [] {
  using enum MetricKind;
  const MetricSpec others[] = {
      {"samples", kCounter, "samples delivered, padding not counted"},
      {"batches", kCounter, "batches delivered"},
      {"epochs", kCounter, "epochs finished"},
      {"bad_samples", kCounter, "distinct samples whose bytes were bad"},
      {"first_batch_ns", kGauge, "time from the first epoch's start to its first batch"},
      {"bytes_read", kCounter, "bytes of samples read from storage"},
      {"bytes_fetched", kCounter, "bytes read from storage, including those between samples"},
      {"reads", kCounter, "reads from storage that have ended"},
      {"bytes_to_device", kCounter, "bytes copied to the device"},
      {"memory_wait_ns", kCounter, "worker time spent waiting for decoding memory"},
      {"jpeg_fallbacks", kCounter, "images of planar recipes that libjpeg decoded, not Stoker's own JPEG decoder"},
      {"entry_points_used", kCounter, "images of which only the needed part was decoded, by an index's entry points"},
      {"nvjpeg_images", kCounter, "images that nvJPEG decoded"},
      {"cache_hits", kCounter, "samples whose bytes were in the cache"},
      {"bytes_from_cache", kCounter, "bytes of samples that were in the cache"},
      {"worker_busy_ns", kCounter, "worker time spent working"},
      {"worker_idle_ns", kCounter, "worker time spent waiting for work"},
      {"device_ns", kCounter, "device time for all kernels, of delivered batches"},
      {"consumer_wait_ns", kCounter, "consumer time spent waiting for a batch"},
      {"consumer_steps", kCounter, "batches after which the consumer has asked for the next one"},
      {"consumer_step_ns", kCounter, "consumer time from getting a batch to asking for the next one"},
      {"consumer_device_steps", kCounter, "batches for which the use by a GPU's stream was timed"},
      {"consumer_device_step_ns", kCounter,
       "time of a GPU's stream from taking a batch to releasing it, of timed batches"},
      {"reader_stall_ns", kCounter, "reader time spent waiting for read-ahead memory"},
      {"reads_in_flight", kGauge, "reads from storage now under way"},
      {"read_ns", kCounter, "time that reads were under way, summed over reads"},
      {"reads_waiting", kGauge, "reads now waiting to be started: the I/O depth is reached"},
      {"reads_waiting_ns", kCounter, "time that reads waited to be started, summed over reads"},
      {"tickets_blocked", kGauge, "drawn samples now waiting for memory to be read into"},
      {"tickets_blocked_ns", kCounter, "time that samples waited for memory to be read into, summed over samples"},
      {"tickets_ready", kGauge, "read samples now waiting for a worker"},
      {"tickets_ready_ns", kCounter, "time that samples waited for a worker, summed over samples"},
      {"tickets_parked", kGauge, "read samples now waiting for a batch's memory: the consumer is too slow"},
      {"tickets_parked_ns", kCounter, "time that samples waited for a batch's memory, summed over samples"},
      {"batches_ready", kGauge, "complete batches not yet taken"},
      {"batches_ready_ns", kCounter, "time that complete batches waited to be taken, summed over batches"},
      {"read_ahead_bytes", kGauge, "memory now held by samples waiting to be decoded"},
      {"batch_bytes", kGauge, "memory now held by batches"},
      {"device_bytes", kGauge, "the device's memory now held by batches"},
      {"cache_bytes", kGauge, "memory now held by the cache, for all processes that share it"},
      {"threads", kKnob, "workers"},
      {"prefetch", kKnob, "batches made ahead of the consumer"},
      {"io_depth", kKnob, "reads under way at once, at most"},
      {"transfer_index", kKnob, "stages that the CPU does"},
  };
  static_assert(std::size(others) + kStageRuns.size() == kMetrics);
  std::array<MetricSpec, kMetrics> table{};
  for (std::size_t run = 0; run < kStageRuns.size(); ++run) {
    const StageRun& stages = kStageRuns[run];
    table[static_cast<std::size_t>(stage_ns(run))] = {stages.metric, kCounter, stages.doc, stages.name,
                                                      to_string(stages.side)};
  }
  std::size_t place = 0;
  for (const MetricSpec& spec : others) {
    while (!table[place].name.empty()) ++place;
    table[place] = spec;
  }
  return table;
}();

}  // namespace

const std::array<MetricSpec, kMetrics>& metric_table() { return kTable; }

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
    metrics[kLevels[i].time] = reading.level_ns;
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
