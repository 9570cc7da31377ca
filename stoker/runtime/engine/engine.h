// A loader's engine: its reader, workers and consumer, and the knobs that change while they run. All of them meet at
// the ticket board, under one lock; images are decoded and bytes read outside it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "stoker/runtime/engine/consumer.h"
#include "stoker/runtime/engine/engine_core.h"
#include "stoker/runtime/engine/reader.h"
#include "stoker/runtime/engine/workers.h"
#include "stoker/runtime/report/metrics_server.h"

namespace stoker {

/// Shared with the batches that the consumer holds: they bring their memory back here, also after close(). To be made
/// by make_shared_at_home(): a forked child must not take its locks nor destroy it.
class Engine : public std::enable_shared_from_this<Engine> {
 public:
  Engine(std::shared_ptr<const Dataset> dataset, Recipe recipe, const ResolvedOptions& options);
  ~Engine() { close(); }

  /// Throws also what ServedMetrics throws.
  void start_threads();
  /// Stops and joins them. Idempotent.
  void close();
  void interrupt();
  /// As Loader::lost_trace().
  bool lost_trace() const { return lost_trace_; }

  Consumer& consumer() { return consumer_; }
  const Consumer& consumer() const { return consumer_; }
  /// As Consumer::next().
  std::optional<BatchPtr> next(Consumer::Deadline deadline) { return consumer_.next(deadline, shared_from_this()); }
  bool wait(Consumer::Deadline deadline) { return consumer_.wait(deadline); }

  // Threads: any, in what follows.

  /// As Loader::set().
  void set(const Knobs& knobs);
  /// The same, but leaves alone what the user has fixed.
  void turn(const KnobSetting& setting);
  KnobSetting knobs() const;

  Metrics metrics() const;
  std::optional<DiskCacheCounters> disk_cache() const;
  std::string metrics_address() const;
  std::string dashboard_address() const;
  /// Throws kClosed in a forked child.
  const EpochReports& reports() const;

  /// Memory for a batch that is none of the loader's, of what batches may take; false while there is too little.
  bool lend(const LoaderBatchBytes& bytes);
  void release_lent(const LoaderBatchBytes& bytes);
  ScratchBudget& scratch() { return core_.scratch; }

  void check_home() const { core_.check_home(); }
  /// Throws kClosed for a loader that is closed or interrupted, too.
  void check_open() const;
  const Dataset& dataset() const { return *core_.dataset; }
  const Plan& plan() const { return core_.plan; }
  const MemoryPlan& memory() const { return core_.memory; }
  const DeviceSide& device_side() const { return core_.board.batches.device(); }

 private:
  void check(const Knobs& knobs) const;
  void apply(const Knobs& knobs);
  void set_threads(int threads);
  void write_trace() noexcept;

  const std::string metrics_address_, dashboard_address_, name_;  // as the options have them
  const int rank_;
  EngineCore core_;
  Reader reader_;
  Workers workers_;
  Consumer consumer_;

  std::atomic<bool> trace_is_over_ = false;  // was written, or could not be
  std::atomic<bool> lost_trace_ = false;

  mutable std::mutex knobs_mutex_;  // one set() or close() at a time; taken before the core's
  Knobs fixed_;                     // by the user, at first and while we run
  std::optional<ServedMetrics> served_metrics_, served_dashboard_;  // if they are
};

}  // namespace stoker
