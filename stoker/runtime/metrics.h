// The loader's measurements: one fixed table, filled without locks. `run`, the doctor, the tuner and Prometheus read
// it; docs/metrics.md lists it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/threads.h"
#include "stoker/ops/stage.h"
#include "stoker/runtime/occupancy.h"

namespace stoker {

enum class Metric : std::uint8_t {
  // What was delivered.
  kSamples,
  kBatches,
  kEpochs,
  kBadSamples,
  kFirstBatchNs,
  // Bytes, by where they come from or go to.
  kBytesRead,
  kBytesFetched,
  kReads,
  kBytesToDevice,
  // Of workers, each of which has its own: from here to kBytesFromCache. The times of the CPU's stages: stage_ns().
  kCpuStagesNs,
  kMemoryWaitNs = kCpuStagesNs + stage_run_count(StageSide::kCpu),
  kJpegFallbacks,
  kEntryPointsUsed,
  kNvjpegImages,
  kCacheHits,
  kBytesFromCache,
  kWorkerBusyNs,
  kWorkerIdleNs,
  // Of the device. The times of its stages: stage_ns().
  kDeviceStagesNs,
  kDeviceNs = kDeviceStagesNs + stage_run_count(StageSide::kDevice),
  // Of the consumer.
  kConsumerWaitNs,
  kConsumerSteps,
  kConsumerStepNs,
  kConsumerDeviceSteps,
  kConsumerDeviceStepNs,
  // Levels, and what they come to over time.
  kReaderStallNs,
  kReadsInFlight,
  kReadNs,
  kReadsWaiting,
  kReadsWaitingNs,
  kTicketsBlocked,
  kTicketsBlockedNs,
  kTicketsReady,
  kTicketsReadyNs,
  kTicketsParked,
  kTicketsParkedNs,
  kBatchesReady,
  kBatchesReadyNs,
  // Memory.
  kReadAheadBytes,
  kBatchBytes,
  kDeviceBytes,
  kCacheBytes,
  // Knobs.
  kThreads,
  kPrefetch,
  kIoDepth,
  kTransferIndex,
  kCount,
};

constexpr std::size_t kMetrics = static_cast<std::size_t>(Metric::kCount);

/// The busy time of one of kStageRuns.
constexpr Metric stage_ns(std::size_t run) {
  constexpr std::size_t kOfCpu = stage_run_count(StageSide::kCpu);
  return static_cast<Metric>(run < kOfCpu ? static_cast<std::size_t>(Metric::kCpuStagesNs) + run
                                          : static_cast<std::size_t>(Metric::kDeviceStagesNs) + run - kOfCpu);
}
consteval Metric stage_ns(StageSide side, Stage first, Stage last) { return stage_ns(stage_run(side, first, last)); }
consteval Metric stage_ns(StageSide side, Stage stage) { return stage_ns(side, stage, stage); }

/// A counter only increases; a gauge is a current value; a knob is a setting.
enum class MetricKind : std::uint8_t { kCounter, kGauge, kKnob };

struct MetricSpec {
  std::string_view name;  // "samples", "bytes_read", "decode_ns", ...
  MetricKind kind;
  std::string_view doc;
  // Of a stage's busy time: its name, as `plan` has it, joined by a plus where stages run as one; and "cpu" or
  // "device".
  std::string_view stage{}, side{};
};

/// By Metric.
const std::array<MetricSpec, kMetrics>& metric_table();

/// The times of one worker.
struct WorkerTimes {
  std::int64_t busy_ns = 0, idle_ns = 0;
};

/// A reading of the table at one moment.
struct Metrics {
  std::array<std::int64_t, kMetrics> values{};
  std::int64_t at_ns = 0;            // base/clock.h
  std::vector<WorkerTimes> workers;  // by number, of as many as there ever were

  std::int64_t operator[](Metric metric) const { return values[static_cast<std::size_t>(metric)]; }
  std::int64_t& operator[](Metric metric) { return values[static_cast<std::size_t>(metric)]; }
};

/// The counters that one worker adds to with each sample, in separate cache lines.
class alignas(64) WorkerCounters {
 public:
  static constexpr Metric kFirst = Metric::kCpuStagesNs, kLast = Metric::kBytesFromCache;

  /// The worker's thread only, for this and all following functions.
  void add(Metric metric, std::int64_t amount) {
    std::atomic<std::int64_t>& value = values_[static_cast<std::size_t>(metric) - static_cast<std::size_t>(kFirst)];
    value.store(value.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  void begin_work() { turn(1, 0); }
  void begin_idle() { turn(0, 1); }
  void end() { turn(0, 0); }

 private:
  friend class MetricCounters;

  void turn(std::int64_t busy, std::int64_t idle) {
    busy_.begin_change();
    idle_.begin_change();
    const std::int64_t now = now_ns();
    busy_.end_change(busy, now);
    idle_.end_change(idle, now);
  }

  std::array<std::atomic<std::int64_t>, static_cast<std::size_t>(kLast) - static_cast<std::size_t>(kFirst) + 1>
      values_{};
  Occupancy busy_, idle_;
};

/// Quantities that rise and fall over time.
enum class Level : std::uint8_t {
  kReaderWaiting,
  kConsumerWaiting,
  kReadsInFlight,
  kReadsWaiting,
  kTicketsBlocked,
  kTicketsReady,
  kTicketsParked,
  kBatchesReady,
  kCount,
};

/// The live table. Threads: any, except where it says otherwise.
class MetricCounters {
 public:
  using Levels = std::array<std::int64_t, static_cast<std::size_t>(Level::kCount)>;

  void add(Metric metric, std::int64_t amount) { at(metric).fetch_add(amount, std::memory_order_relaxed); }
  void set(Metric metric, std::int64_t value) { at(metric).store(value, std::memory_order_relaxed); }
  std::int64_t value(Metric metric) const { return at(metric).load(std::memory_order_relaxed); }
  /// Sets the current numbers. One thread at a time.
  void observe(const Levels& levels);

  /// Makes room for so many workers. One thread at a time. Throws std::bad_alloc.
  void have_workers(int count);
  /// The counters of a worker with room: for its thread.
  WorkerCounters& worker(int number) const;

  Metrics read() const;

 private:
  static constexpr std::size_t kChunk = 64;
  using Chunk = std::array<WorkerCounters, kChunk>;

  std::atomic<std::int64_t>& at(Metric metric) { return values_[static_cast<std::size_t>(metric)]; }
  const std::atomic<std::int64_t>& at(Metric metric) const { return values_[static_cast<std::size_t>(metric)]; }

  std::array<std::atomic<std::int64_t>, kMetrics> values_{};
  alignas(64) std::array<Occupancy, static_cast<std::size_t>(Level::kCount)> levels_;
  std::atomic<int> workers_{0};
  std::vector<std::unique_ptr<Chunk>> owned_;
  std::array<std::atomic<Chunk*>, kThreadsMax / kChunk> chunks_{};
};

}  // namespace stoker
