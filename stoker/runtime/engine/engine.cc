#include "stoker/runtime/engine/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/base/log.h"
#include "stoker/base/machine.h"
#include "stoker/base/threads.h"
#include "stoker/base/units.h"
#include "stoker/runtime/engine/board_options.h"

namespace stoker {

Engine::Engine(std::shared_ptr<const Dataset> dataset, Recipe recipe, const ResolvedOptions& options)
    : dataset_(std::move(dataset)),
      plan_(std::move(recipe)),
      device_(options.device),
      pinned_(options.pin_memory ? open_pinned_host() : nullptr),
      cores_(options.cores),
      batch_(options.batch),
      seed_(options.order.seed),
      epochs_end_(options.epochs_end),
      bad_sample_(options.bad_sample),
      wants_label_(std::any_of(plan_.views().begin(), plan_.views().end(),
                               [](const ViewPlan& view) { return view.kind == ViewKind::kLabel; })),
      progress_(options.progress),
      metrics_address_(options.metrics_address),
      name_(options.name),
      rank_(options.rank),
      audit_(options.audit.empty() ? nullptr : std::make_unique<AuditWriter>(options.audit)),
      quarantine_(options.quarantine.empty() ? nullptr : std::make_shared<Quarantine>(options.quarantine)),
      limits_(options.limits),
      memory_(plan_memory(*dataset_, plan_, options)),
      enough_memory_(dataset_, plan_, options),
      cache_share_(cache_share(*dataset_, plan_.fields(), options.world, memory_.cache)),
      cache_(cache_share_ ? std::make_shared<SampleCache>(cache_share_->take(), dataset_->size()) : nullptr),
      scratch_(memory_.scratch, options.knobs.threads, usable_cores(),
               [this](std::uint64_t bytes) { return enough_memory_.text({.decode_bytes = bytes}); }),
      board_(*dataset_, completed(board_options(*dataset_, plan_, options, memory_)), *options.allocator),
      io_depth_(options.knobs.io_depth),
      worker_target_(options.knobs.threads),
      out_of_memory_(
          std::make_exception_ptr(Error(ErrorKind::kMemory, "the machine has no memory left for the loader"))),
      state_({.data = dataset_->fingerprint(),
              .samples = dataset_->size(),
              .recipe = hash64(plan_.recipe().to_toml()),
              .order = board_.order(),
              .semantics = kSemanticsVersion,
              .nvjpeg = options.nvjpeg}),
      batches_per_epoch_(board_.batches_per_epoch()),
      fixed_(options.fixed) {}

Engine::~Engine() { close(); }

BoardOptions Engine::completed(BoardOptions options) const {
  options.quarantine = quarantine_;
  options.cache = cache_;
  options.device.pinned = pinned_.get();
  options.enough_memory = [this](std::uint64_t bytes) { return enough_memory_.text({.sample_bytes = bytes}); };
  return options;
}

void Engine::start_threads() {
  const std::lock_guard lock(knobs_mutex_);
  if (!cores_.account.empty()) log(LogLevel::kDebug, "{}", cores_.account);
  if (!metrics_address_.empty()) {
    served_metrics_.emplace(parse_metrics_address(metrics_address_), name_, rank_, [this] { return metrics(); });
  }
  translate_thread_errors([&] { reader_ = std::thread([this] { read_loop(); }); });
  resize_workers(worker_target_);
}

void Engine::close() {
  if (!home_.here()) return;
  const std::lock_guard knobs_lock(knobs_mutex_);
  served_metrics_.reset();
  {
    std::unique_lock lock(mutex_);
    closing_ = true;
    scratch_.close();
    reader_wakes_.notify_all();
    workers_wake_.notify_all();
    consumer_wakes_.notify_all();
  }
  if (reader_.joinable()) reader_.join();
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
  // Reads under way write into our memory: they must end before it goes.
  std::unique_lock lock(mutex_);
  reads_end_.wait(lock, [&] { return reads_in_flight_ == 0; });
  observe();
}

// The lock is held. What a thread of ours cannot go on after ends the run; out of memory is all that is expected here.
void Engine::fail_with(const std::exception_ptr& failure) noexcept {
  try {
    std::rethrow_exception(failure);
  } catch (const std::bad_alloc&) {
    failure_ = out_of_memory_;
  } catch (...) {
    failure_ = failure;
  }
  consumer_wakes_.notify_all();
}

// --- workers

void Engine::resize_workers(int threads) {
  {
    const std::lock_guard lock(mutex_);
    worker_target_ = threads;
    workers_wake_.notify_all();
    observe();
  }
  while (static_cast<int>(workers_.size()) > threads) {
    workers_.back().join();
    workers_.pop_back();
  }
  const std::size_t before = workers_.size();
  try {
    translate_thread_errors([&] {
      metrics_.have_workers(threads);
      while (static_cast<int>(workers_.size()) < threads) {
        const int number = static_cast<int>(workers_.size());
        workers_.emplace_back([this, number] { work_loop(number); });
      }
    });
  } catch (...) {
    resize_workers(static_cast<int>(before));
    throw;
  }
}

std::size_t Engine::fair_share() const {
  const std::size_t each = board_.workable_count() / (4 * static_cast<std::size_t>(worker_target_));
  return std::clamp<std::size_t>(each, 1, kTicketsAtOnce);
}

void Engine::work_loop(int worker) {
  run_on(cores_.cores);
  name_this_thread(fmt::format("stoker-work{}", worker));
  metrics_.worker(worker).begin_work();
  std::unique_lock lock(mutex_, std::defer_lock);
  try {
    work_until_stopped(worker, lock);
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    fail_with(std::current_exception());
  }
  metrics_.worker(worker).end();
}

namespace {

/// What an executor has done since it was `reported`, for a ticket.
void report(const ExecutorCounts& counts, ExecutorCounts& reported, const Ticket& ticket, WorkerCounters& counters) {
  static constexpr std::pair<Metric, std::int64_t ExecutorCounts::*> kCounts[] = {
      {Metric::kHandOverNs, &ExecutorCounts::hand_over_ns},
      {Metric::kDecodeNs, &ExecutorCounts::decode_ns},
      {Metric::kGeometryNs, &ExecutorCounts::geometry_ns},
      {Metric::kGeometryColorNs, &ExecutorCounts::geometry_color_ns},
      {Metric::kMemoryWaitNs, &ExecutorCounts::memory_wait_ns},
      {Metric::kJpegFallbacks, &ExecutorCounts::jpeg_fallbacks},
      {Metric::kEntryPointsUsed, &ExecutorCounts::entry_points_used},
      {Metric::kNvjpegImages, &ExecutorCounts::nvjpeg_images},
  };
  for (const auto& [metric, count] : kCounts) {
    if (counts.*count != reported.*count) counters.add(metric, counts.*count - reported.*count);
  }
  reported = counts;
  if (!ticket.cached) return;
  counters.add(Metric::kCacheHits, 1);
  for (const FieldRead& read : ticket.reads) {
    counters.add(Metric::kBytesFromCache, static_cast<std::int64_t>(read.content.size()));
  }
}

}  // namespace

void Engine::work_until_stopped(int worker, std::unique_lock<std::mutex>& lock) {
  ScratchGate gate(scratch_);
  CpuExecutor executor(plan_, limits_, &gate);
  WorkerCounters& counters = metrics_.worker(worker);
  ExecutorCounts reported;
  Ticket* tickets[kTicketsAtOnce];
  lock.lock();
  for (;;) {
    std::size_t count = 0;
    const auto something_to_do = [&] {
      if (closing_ || worker >= worker_target_) return true;
      count = board_.take(std::span(tickets, fair_share()));
      return count > 0 || board_.may_cross() || board_.may_grant();
    };
    if (!something_to_do()) {
      observe();
      counters.begin_idle();
      workers_wake_.wait(lock, something_to_do);
      counters.begin_work();
    }
    if (count == 0 && (closing_ || worker >= worker_target_)) return;
    if (count == 0) {
      cross_complete(worker, lock);
      grant_memory(counters, lock);
    }
    for (std::size_t i = 0; i < count; ++i) {
      observe();
      lock.unlock();
      work_on(*tickets[i], executor);
      gate.drop_too_much(executor);
      report(executor.counts(), reported, *tickets[i], counters);
      lock.lock();
      const bool complete = board_.finish(*tickets[i]);
      if (complete) cross_complete(worker, lock);
      if (complete || board_.starved()) consumer_wakes_.notify_all();
      wake_reader_if_room();
    }
    wake_worker();
  }
}

// The lock is held.
void Engine::wake_worker() {
  if (board_.has_work()) workers_wake_.notify_one();
}

// Makes memory ready for the first batch without any. The lock is held, but not while a device or a stream of the
// consumer is waited for, or memory is allocated.
void Engine::grant_memory(WorkerCounters& counters, std::unique_lock<std::mutex>& lock) {
  BatchGrant grant;
  if (closing_ || !board_.may_grant()) return;
  if (!board_.take_grant(grant)) return consumer_wakes_.notify_all();  // it learns that there is none
  observe();
  lock.unlock();
  counters.begin_idle();
  board_.prepare(grant);
  counters.begin_work();
  lock.lock();
  board_.granted(grant);
  if (grant.error) consumer_wakes_.notify_all();
  if (board_.has_work()) workers_wake_.notify_all();  // tickets of the batch were ready
  if (!grant.batch) return;
  lock.unlock();
  grant.batch.reset();
  lock.lock();
}

// Hands complete batches over to the device. The lock is held, but not while one is handed over. Whoever is not wanted
// any more leaves the next one to others, where there may always be a next one.
void Engine::cross_complete(int worker, std::unique_lock<std::mutex>& lock) {
  while (BatchWork* const work = board_.take_crossing()) {
    std::exception_ptr error;
    lock.unlock();
    try {
      if (const std::optional<std::int64_t> step_ns = work->batch->step_ns()) {
        metrics_.add(Metric::kConsumerDeviceSteps, 1);
        metrics_.add(Metric::kConsumerDeviceStepNs, *step_ns);
      }
      work->batch->cross();
      metrics_.add(Metric::kBytesToDevice, static_cast<std::int64_t>(work->batch->bytes_to_device()));
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    board_.crossed(*work, std::move(error));
    consumer_wakes_.notify_all();
    if (worker < worker_target_) continue;
    workers_wake_.notify_all();
    return;
  }
}

void Engine::make(Ticket& ticket, CpuExecutor& executor) const {
  if (ticket.error) std::rethrow_exception(ticket.error);
  Bytes fields[kOutputsMax];  // plan_memory() refuses recipes with more
  const std::size_t count = plan_.fields().size();
  for (std::size_t i = 0; i < count; ++i) {
    const FieldRead& read = ticket.reads[i];
    fields[i] = read.content;
    // What is kept was checked, as far as it was wanted.
    if (!ticket.cached || !read.wanted.whole()) check_wanted(ticket.row, *read.field, read.wanted, fields[i]);
  }
  if (wants_label_ && ticket.row.label < 0 && !ticket.row.relabelled && ticket.row.field("cls")) {
    fail(ErrorKind::kBadSample, "its field 'cls' is not a class number");
  }
  const auto number = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  const bool has_entry_points = ticket.entry_points_of >= 0;
  const SampleInput input{
      .fields = std::span(fields, count),
      .entry_points = has_entry_points ? ticket.reads.back().content : Bytes(),
      .entry_points_of = ticket.entry_points_of,
      .has_faults = ticket.row.soundness == Soundness::kConcealed || ticket.row.soundness == Soundness::kBad,
      .label = ticket.row.label,
      .draw = {seed_, number(ticket.work->epoch), number(ticket.position)}};
  try {
    ticket.work->batch->write(ticket.slot, input, executor);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kLimit) throw;
    throw Error(ErrorKind::kBadSample, error.message());  // an image that is too large is so everywhere
  }
}

// Writes the ticket's slot, or leaves the reason why not in the ticket.
void Engine::work_on(Ticket& ticket, CpuExecutor& executor) const {
  LoaderBatch& batch = *ticket.work->batch;
  if (ticket.padding()) return batch.write_padding(ticket.slot);
  try {
    make(ticket, executor);
    board_.keep_in_cache(ticket);
  } catch (const Error& error) {
    // What went wrong while the row was looked for names its file itself.
    if (ticket.row.source) ticket.error = std::make_exception_ptr(error.with_context(describe(ticket.row)));
  } catch (const std::bad_alloc&) {
    const Error error(ErrorKind::kMemory, "the machine has no memory left to decode it");
    ticket.error = std::make_exception_ptr(error.with_context(describe(ticket.row)));
  }
  if (ticket.error && bad_sample_ == BadSlotPolicy::kSkip) batch.write_padding(ticket.slot);
}

// --- from any thread

void Engine::check_home() const {
  if (!home_.here()) fail(ErrorKind::kClosed, "the loader was made before this process was forked; make one here");
}

void Engine::check_open() const {
  if (closing_) fail(ErrorKind::kClosed, "the loader is closed");
  if (interrupted_) fail(ErrorKind::kClosed, "the loader was interrupted");
}

void Engine::interrupt() {
  check_home();
  const std::lock_guard lock(mutex_);
  interrupted_ = true;
  consumer_wakes_.notify_all();
}

}  // namespace stoker
