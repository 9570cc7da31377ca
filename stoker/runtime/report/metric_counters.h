// The metrics while a loader runs: the table that its threads fill without locks.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/occupancy.h"
#include "stoker/base/threads.h"
#include "stoker/runtime/metrics.h"

namespace stoker {

/// What one worker adds to with each sample: cache lines of its own.
class alignas(64) WorkerCounters {
 public:
  static constexpr Metric kFirst = Metric::kCpuStagesNs, kLast = Metric::kBytesFromCache;

  /// The worker's thread only, as all that follows.
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

/// What there is more or less of as time goes by.
enum class Level : std::uint8_t {
  kReaderWaiting,
  kConsumerWaiting,
  kConsumerWaitsForReads,
  kConsumerWaitsForWorkers,
  kConsumerWaitsForDevice,
  kReadsInFlight,
  kDiskReading,
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
  /// How many of everything there are from now on. One thread at a time.
  void observe(const Levels& levels);

  /// Makes room for so many workers. One thread at a time. Throws std::bad_alloc.
  void have_workers(int count);
  /// Of one for whom there is room: for its thread.
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
