// The loader's measurements: one fixed table. `run`, the doctor, the tuner and Prometheus read it; docs/metrics.md
// lists it. Threads: values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "stoker/ops/stage.h"

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
  kFieldsNs = kCpuStagesNs + stage_run_count(StageSide::kCpu),
  kMixNs,
  kFunctionNs,
  kFunctionInsideNs,
  kMemoryWaitNs,
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
  kConsumerWaitReadsNs,
  kConsumerWaitWorkersNs,
  kConsumerWaitDeviceNs,
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
  // Of local storage, and of stores over a network since the data set was opened.
  kDiskBytes,
  kDiskReads,
  kDiskNs,
  kStoreRequests,
  kStoreRetries,
  kStoreHedged,
  kStoreBytes,
  kStoreNs,
  kStoreFirstByteP50Ns,
  kStoreFirstByteP99Ns,
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
  // Of a quantile: which one, as Prometheus labels it, and the metric's name without it.
  std::string_view quantile{}, quantity{};
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

}  // namespace stoker
