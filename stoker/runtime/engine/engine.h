// The loader's threads: one reader, some workers, and the consumer who waits. All of them meet at the ticket board,
// under one lock; images are decoded and bytes read outside it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "stoker/base/home_process.h"
#include "stoker/plan/cpu_executor.h"
#include "stoker/plan/plan.h"
#include "stoker/runtime/engine/batch_period.h"
#include "stoker/runtime/engine/enough_memory.h"
#include "stoker/runtime/engine/memory_plan.h"
#include "stoker/runtime/engine/read_plan.h"
#include "stoker/runtime/engine/scratch_budget.h"
#include "stoker/runtime/engine/ticket_board.h"
#include "stoker/runtime/loader.h"
#include "stoker/runtime/loader_state.h"
#include "stoker/runtime/report/audit.h"
#include "stoker/runtime/report/metrics_server.h"
#include "stoker/runtime/resolved_options.h"
#include "stoker/runtime/share/cache_share.h"
#include "stoker/storage/intrusive_queue.h"

namespace stoker {

/// Shared with the batches that the consumer holds: they bring their memory back here, also after close(). To be made
/// by make_shared_at_home(): a forked child must not take its locks nor destroy it.
class Engine : public std::enable_shared_from_this<Engine> {
 public:
  Engine(std::shared_ptr<const Dataset> dataset, Recipe recipe, const ResolvedOptions& options);
  ~Engine();

  /// Called by the consumer's thread for each batch but the first; set before the threads are started.
  void on_delivered(std::function<void(const BatchPeriod&)> told) { delivered_told_ = std::move(told); }
  /// Throws also what ServedMetrics throws.
  void start_threads();
  void close();

  void start_epoch(std::int64_t epoch);
  std::int64_t next_epoch() const;
  LoaderPosition position() const;
  std::string state() const;
  std::vector<BadSample> bad_samples() const;
  LoaderPosition load_state(std::string_view json);
  /// Null at the end of the epoch; nullopt when the deadline passed first.
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;
  std::optional<BatchPtr> next(Deadline deadline);
  /// As Loader::set().
  void set(const Knobs& knobs);
  /// The same, but leaves alone what the user has fixed. Threads: any.
  void turn(const KnobSetting& setting);
  void interrupt();

  /// Memory for a batch that is none of the loader's, of what batches may take; false while there is too little.
  bool lend(const LoaderBatchBytes& bytes);
  void return_lent(const LoaderBatchBytes& bytes);
  ScratchBudget& scratch() { return scratch_; }
  const DeviceSide& device_side() const { return board_.device(); }
  const MemoryPlan& memory() const { return memory_; }

  Metrics metrics() const;
  std::string metrics_address() const;
  KnobSetting knobs() const;
  std::int64_t batches_per_epoch() const { return batches_per_epoch_; }
  /// Throws kClosed in a forked child.
  void check_home() const;
  const Dataset& dataset() const { return *dataset_; }
  const Plan& plan() const { return plan_; }
  int batch_size() const { return batch_; }

 private:
  // A worker takes several tickets at once while there is plenty, so that it seldom needs the lock, and single ones
  // when work is short, so that no core runs dry at a batch's end.
  static constexpr std::size_t kTicketsAtOnce = 4;

  // The reader: engine_reader.cc.
  void read_loop();
  bool collect(std::unique_lock<std::mutex>& lock);
  void locate_next(std::unique_lock<std::mutex>& lock);
  void grant_located();
  bool read_substitutes(std::unique_lock<std::mutex>& lock);
  void forget_discarded();
  void wait_for_room(std::unique_lock<std::mutex>& lock);
  bool reads_due() const;
  void start_reads(std::unique_lock<std::mutex>& lock);
  bool may_start_read() const;
  PlannedRead* take_read();
  static void start_in_turn(IntrusiveQueue<PlannedRead> reads);
  void read_fields(PlannedRead& read);
  static void read_ended(ReadRequest& request) noexcept;
  void ticket_read(Ticket& ticket);

  void work_loop(int worker);
  void work_until_stopped(int worker, std::unique_lock<std::mutex>& lock);
  void work_on(Ticket& ticket, CpuExecutor& executor) const;
  void observe();
  void make(Ticket& ticket, CpuExecutor& executor) const;
  BoardOptions completed(BoardOptions options) const;
  void resize_workers(int threads);
  std::size_t fair_share() const;

  // The knobs: engine_knobs.cc.
  void check(const Knobs& knobs) const;
  void apply(const Knobs& knobs);
  void set_threads(int threads);
  void tell_delivered(std::int64_t delivered_ns);

  void check_open() const;
  void fail_with(const std::exception_ptr& failure) noexcept;

  // The consumer: engine_consumer.cc.
  BatchPtr end_epoch();
  bool pop_arriving(Deadline deadline);
  void consumer_waits(bool waits);
  void count_device(const DeviceTimes& stages_ns);
  void wait_for_batch(std::unique_lock<std::mutex>& lock, Deadline deadline);
  bool lacks_unsettled_memory() const;
  bool settle(std::size_t but, Deadline deadline);
  void report_bad();
  void drop_arriving() noexcept;
  BatchPtr deliver(std::unique_ptr<LoaderBatch> batch);
  void take_back(LoaderBatch* batch) noexcept;
  void cross_complete(int worker, std::unique_lock<std::mutex>& lock);
  void grant_memory(WorkerCounters& counters, std::unique_lock<std::mutex>& lock);
  void wake_worker();
  void wake_reader_if_room();

  const HomeProcess home_;
  const std::shared_ptr<const Dataset> dataset_;
  const Plan plan_;
  const std::shared_ptr<Device> device_;
  const std::shared_ptr<PinnedHost> pinned_;
  const NearCores cores_;  // that our threads keep to
  const int batch_;
  const std::uint64_t seed_;
  const std::int64_t epochs_end_;
  const BadSlotPolicy bad_sample_;
  const bool wants_label_;
  const std::function<void(const LoaderProgress&)> progress_;
  std::function<void(const BatchPeriod&)> delivered_told_;
  const std::string metrics_address_, name_;  // as the options have them
  const int rank_;
  MetricCounters metrics_;
  std::unique_ptr<AuditWriter> audit_;      // the consumer's thread only
  std::shared_ptr<Quarantine> quarantine_;  // likewise, but for what it knew from the beginning
  const DecodeLimits limits_;
  const MemoryPlan memory_;
  const EnoughMemory enough_memory_;
  const std::unique_ptr<CacheShare> cache_share_;
  const std::shared_ptr<SampleCache> cache_;

  ScratchBudget scratch_;

  mutable std::mutex mutex_;
  std::condition_variable reader_wakes_, workers_wake_, consumer_wakes_, reads_end_;

  // Guarded by mutex_.
  TicketBoard board_;
  bool closing_ = false;
  bool interrupted_ = false;
  bool reader_waits_ = false;
  bool consumer_waits_ = false;
  int io_depth_ = kIoDepthMax;
  IntrusiveQueue<PlannedRead> urgent_reads_, waiting_reads_;  // planned, and not started: the depth is reached
  std::size_t reads_waiting_ = 0;                             // of both
  std::size_t reads_in_flight_ = 0;
  PlannedRead* ended_reads_ = nullptr;  // for the reader to use again
  bool epoch_started_ = false;          // since the reader looked last
  int worker_target_ = 0;
  std::exception_ptr failure_;              // of the reader or a worker itself: nothing goes on after it
  const std::exception_ptr out_of_memory_;  // made while there is some
  const LoaderState state_;                 // never changes

  // The reader's thread only.
  std::vector<Ticket*> located_;  // drawn and located, waiting for room in this order
  std::size_t located_first_ = 0;
  std::vector<std::int64_t> located_samples_;  // scratch
  std::deque<Ticket*> substitutes_;            // located, waiting for room likewise
  // Likewise; but while it waits, whoever may wake it looks at these under the lock.
  ReadPlan read_plan_;
  std::size_t round_max_ = 0;     // tickets that are collected before reads are started
  std::uint64_t planned_to_ = 0;  // TicketBoard::near_end() when reads were planned last

  // The consumer's thread only.
  bool in_epoch_ = false;
  std::int64_t epoch_ = -1;
  std::int64_t delivered_ = 0;  // of the epoch; those before a state were, too
  const std::int64_t batches_per_epoch_;
  std::optional<LoaderPosition> resume_;  // where the next epoch begins, if it is that one
  std::int64_t first_start_ns_ = 0;
  std::int64_t step_since_ns_ = 0;  // when the consumer got the batch that it is at work on; 0: it has none
  // Since the last delivery.
  std::int64_t delivered_at_ns_ = 0;         // 0: there was none
  std::int64_t waited_ns_ = 0;               // for a batch, and not for what the consumer itself gave the device to do
  std::int64_t made_ = 0, made_before_ = 0;  // slots, when this batch was popped and the one before
  bool first_delivered_ = false;
  std::unique_ptr<LoaderBatch> arriving_;          // popped, and not yet delivered
  std::deque<LoaderBatch*> unsettled_;             // popped, the oldest first; the consumer may have let go of some
  std::vector<BadSlot> bad_;                       // scratch: of the batch at hand
  std::map<std::int64_t, BadSample> bad_samples_;  // met so far, and
  std::set<std::int64_t> epoch_bad_;               // in this epoch: few, for many are an error
  std::exception_ptr epoch_error_;                 // a failed epoch stays failed until another is started

  mutable std::mutex knobs_mutex_;               // one set() or close() at a time; taken before mutex_
  Knobs fixed_;                                  // by the user, at first and while we run
  std::optional<ServedMetrics> served_metrics_;  // if they are
  std::vector<std::thread> workers_;
  std::thread reader_;
};

}  // namespace stoker
