// What a loader's reader, workers and consumer share: the ticket board under one lock, and what all of them use.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <stop_token>
#include <vector>

#include "stoker/base/home_process.h"
#include "stoker/plan/plan.h"
#include "stoker/runtime/board/board.h"
#include "stoker/runtime/engine/batch_step.h"
#include "stoker/runtime/engine/enough_memory.h"
#include "stoker/runtime/engine/memory_plan.h"
#include "stoker/runtime/engine/scratch_budget.h"
#include "stoker/runtime/engine/worker_crew.h"
#include "stoker/runtime/report/metric_counters.h"
#include "stoker/runtime/report/quarantine.h"
#include "stoker/runtime/report/trace.h"
#include "stoker/runtime/resolved_options.h"
#include "stoker/runtime/share/cache_share.h"
#include "stoker/storage/cache/disk_cache.h"
#include "stoker/storage/store_traffic.h"

namespace stoker {

/// What the consumer's thread waits for in the loader.
enum class ConsumerWait : std::uint8_t { kNot, kBatch, kDevice };

struct EngineCore {
  EngineCore(std::shared_ptr<const Dataset> data, Recipe recipe, const ResolvedOptions& options);

  /// Throws kClosed in a forked child.
  void check_home() const;

  // With the lock held:

  /// Throws kClosed for a loader that is closed or interrupted.
  void check_open() const;
  /// What a thread of ours cannot go on after ends the run.
  void fail_with(const std::exception_ptr& error) noexcept;
  /// A worker that slept and is needed now: its bed is to be notified, best with the lock released. Null: none is.
  WorkerBed* call_worker();
  /// Calls one, and notifies it with the lock held: for where that is seldom.
  void wake_worker();
  void wake_all_workers();
  /// Tells the metrics how many of everything there are now; before the lock is released.
  void observe();

  /// What was measured so far. Threads: any; needs no lock.
  Metrics read_metrics() const;

  const HomeProcess home;
  const std::shared_ptr<const Dataset> dataset;
  const Plan plan;
  const std::shared_ptr<Device> device;
  const std::shared_ptr<PinnedHost> pinned;
  const NearCores cores;  // that our threads keep to
  const DecodeLimits limits;
  const BadSlotPolicy bad_sample;
  MetricCounters metrics;
  const std::unique_ptr<Trace> trace;  // null without one
  const std::shared_ptr<Quarantine> quarantine;
  const MemoryPlan memory;
  const EnoughMemory enough_memory;
  const std::unique_ptr<CacheShare> cache_share;
  const std::shared_ptr<SampleCache> cache;
  const std::unique_ptr<DiskCache> disk_cache;     // null without one
  const std::unique_ptr<KeptChunks> entry_points;  // null where none are read over a network
  ScratchBudget scratch;
  const std::unique_ptr<const BatchMixer> mixer;        // null where samples are not mixed
  const std::vector<std::unique_ptr<BatchStep>> steps;  // of each batch, one batch at a time
  const TrafficMeters meters;                           // of the data set's stores
  const std::exception_ptr out_of_memory;               // made while there is some
  std::stop_source stop_reads;                          // when the loader closes: a server may keep them waiting

  mutable std::mutex mutex;
  std::condition_variable reader_wakes, consumer_wakes, reads_end;

  // Guarded by it.
  Board board;
  bool closing = false;
  bool interrupted = false;
  bool reader_waits = false;
  ConsumerWait consumer_waits = ConsumerWait::kNot;
  int io_depth;
  int worker_target;  // threads
  WorkerCrew crew;
  std::size_t located = 0;  // tickets that wait for room
  std::size_t reads_waiting = 0, reads_in_flight = 0;
  std::size_t disk_reads_in_flight = 0;  // of them, those from local storage
  std::exception_ptr failure{};          // of the reader or a worker itself: nothing goes on after it

 private:
  BoardOptions options_of_board(const ResolvedOptions& options) const;
};

}  // namespace stoker
