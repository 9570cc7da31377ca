#include "stoker/runtime/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/log.h"
#include "stoker/base/threads.h"
#include "stoker/base/units.h"
#include "stoker/runtime/loader_options.h"
#include "stoker/runtime/thread_pool.h"

namespace stoker {

Loader::Engine::Engine(std::shared_ptr<const Dataset> dataset, Recipe recipe, const LoaderOptions& options)
    : dataset_(std::move(dataset)),
      plan_(std::move(recipe)),
      batch_(options.batch),
      seed_(options.seed),
      epochs_end_(options.epochs_end),
      progress_(options.progress),
      audit_(options.audit.empty() ? nullptr : std::make_unique<AuditWriter>(options.audit)),
      board_(*dataset_, board_options(*dataset_, plan_, options), *options.allocator),
      worker_target_(options.threads),
      batches_per_epoch_(board_.batches_per_epoch()) {}

Loader::Engine::~Engine() { close(); }

void Loader::Engine::start_threads() {
  const std::lock_guard lock(knobs_mutex_);
  translate_thread_errors([&] { reader_ = std::thread([this] { read_loop(); }); });
  resize_workers(worker_target_);
}

void Loader::Engine::close() {
  if (!home_.here()) return;
  const std::lock_guard knobs_lock(knobs_mutex_);
  {
    std::unique_lock lock(mutex_);
    closing_ = true;
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
}

// The lock is held. What a thread of ours cannot go on after ends the run; out of memory is all that is expected here.
void Loader::Engine::fail_with(std::exception_ptr failure) {
  try {
    std::rethrow_exception(std::move(failure));
  } catch (const Error&) {
    failure_ = std::current_exception();
  } catch (const std::bad_alloc&) {
    failure_ = std::make_exception_ptr(Error(ErrorKind::kMemory, "the machine has no memory left for the loader"));
  } catch (...) {
    failure_ = std::current_exception();
  }
  consumer_wakes_.notify_all();
}

// --- workers

void Loader::Engine::resize_workers(int threads) {
  {
    const std::lock_guard lock(mutex_);
    worker_target_ = threads;
    workers_wake_.notify_all();
  }
  while (static_cast<int>(workers_.size()) > threads) {
    workers_.back().join();
    workers_.pop_back();
  }
  const std::size_t before = workers_.size();
  try {
    translate_thread_errors([&] {
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

std::size_t Loader::Engine::fair_share() const {
  const std::size_t each = board_.ready_count() / (4 * static_cast<std::size_t>(worker_target_));
  return std::clamp<std::size_t>(each, 1, kTicketsAtOnce);
}

void Loader::Engine::work_loop(int worker) {
  name_this_thread(fmt::format("stoker-work{}", worker));
  std::unique_lock lock(mutex_, std::defer_lock);
  try {
    work_until_stopped(worker, lock);
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    fail_with(std::current_exception());
  }
}

void Loader::Engine::work_until_stopped(int worker, std::unique_lock<std::mutex>& lock) {
  CpuExecutor executor(plan_);
  StageTimes reported;
  Ticket* tickets[kTicketsAtOnce];
  lock.lock();
  for (;;) {
    std::size_t count = 0;
    const auto something_to_do = [&] {
      if (closing_ || worker >= worker_target_) return true;
      count = board_.take(std::span(tickets, fair_share()));
      return count > 0;
    };
    if (!something_to_do()) {
      const std::int64_t since = now_ns();
      workers_wake_.wait(lock, something_to_do);
      metrics_.add(Metric::kWorkerIdleNs, now_ns() - since);
    }
    if (count == 0) return;
    for (std::size_t i = 0; i < count; ++i) {
      lock.unlock();
      work_on(*tickets[i], executor);
      const StageTimes& times = executor.times();
      metrics_.add(Metric::kDecodeNs, times.decode_ns - reported.decode_ns);
      metrics_.add(Metric::kTransformNs, times.transform_ns - reported.transform_ns);
      reported = times;
      lock.lock();
      if (board_.finish(*tickets[i]) || board_.starved()) consumer_wakes_.notify_all();
      wake_reader_if_room();
    }
    if (board_.ready_count() > 0) workers_wake_.notify_one();
  }
}

// Writes the ticket's slot, or leaves the reason why not in the ticket.
void Loader::Engine::work_on(Ticket& ticket, CpuExecutor& executor) const {
  MutableBytes outputs[kOutputsMax];  // board_options() refuses recipes with more
  const std::size_t count = plan_.views().size();
  for (std::size_t i = 0; i < count; ++i) outputs[i] = ticket.work->batch->slot_bytes(i, ticket.slot);
  if (ticket.padding()) {
    for (std::size_t i = 0; i < count; ++i) std::memset(outputs[i].data(), 0, outputs[i].size());
    return;
  }
  try {
    if (ticket.error) std::rethrow_exception(ticket.error);
    Bytes fields[kOutputsMax];
    for (std::size_t i = 0; i < ticket.reads.size(); ++i) {
      fields[i] = ticket.reads[i].bytes;
      check_field(*ticket.reads[i].field, fields[i]);
    }
    const auto number = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
    const SampleInput input{.fields = std::span(fields, ticket.reads.size()),
                            .label = ticket.row.label,
                            .draw = {seed_, number(ticket.work->epoch), number(ticket.position)}};
    executor.run(input, std::span(outputs, count));
  } catch (const Error& error) {
    // What went wrong while the row was looked for names its file itself.
    if (ticket.row.source) ticket.error = std::make_exception_ptr(error.with_context(describe(ticket.row)));
  } catch (const std::bad_alloc&) {
    const Error error(ErrorKind::kMemory, "the machine has no memory left to decode it");
    ticket.error = std::make_exception_ptr(error.with_context(describe(ticket.row)));
  }
}

// --- the consumer

void Loader::Engine::check_home() const {
  if (!home_.here()) fail(ErrorKind::kClosed, "the loader was made before this process was forked; make one here");
}

void Loader::Engine::check_open() const {
  if (closing_) fail(ErrorKind::kClosed, "the loader is closed");
  if (interrupted_) fail(ErrorKind::kClosed, "the loader was interrupted");
}

void Loader::Engine::start_epoch(std::int64_t epoch) {
  check_home();
  if (epoch < 0) fail(ErrorKind::kUsage, "epochs are numbered from 0; {} was asked for", epoch);
  if (epoch >= epochs_end_) {
    fail(ErrorKind::kUsage, "epoch {} was asked for, but the loader was made for those up to {}", epoch,
         epochs_end_ - 1);
  }
  const std::lock_guard lock(mutex_);
  check_open();
  if (first_start_ns_ == 0) first_start_ns_ = now_ns();
  board_.start_epoch(epoch);
  epoch_started_ = true;
  epoch_ = epoch;
  delivered_ = 0;
  in_epoch_ = true;
  epoch_error_ = nullptr;
  log(LogLevel::kDebug, "epoch {} begins: {} batches of {}", epoch, batches_per_epoch_, batch_);
  reader_waits_ = false;
  reader_wakes_.notify_one();
}

std::optional<BatchPtr> Loader::Engine::next(std::optional<std::chrono::steady_clock::time_point> deadline) {
  check_home();
  if (epoch_error_) std::rethrow_exception(epoch_error_);
  if (!in_epoch_ && epoch_ + 1 >= epochs_end_) return BatchPtr();
  if (!in_epoch_) start_epoch(epoch_ + 1);
  if (delivered_ == batches_per_epoch_) {
    in_epoch_ = false;
    metrics_.add(Metric::kEpochs, 1);
    log(LogLevel::kDebug, "epoch {} ended after {} batches", epoch_, delivered_);
    return BatchPtr();
  }
  std::unique_ptr<Batch> batch;
  {
    std::unique_lock lock(mutex_);
    wait_for_batch(lock, deadline);
    if (!board_.front_sealed()) return std::nullopt;
    const std::int64_t failed_sample = board_.front_error_sample();
    try {
      batch = board_.pop();
    } catch (const Error& error) {
      const bool bad = error.kind() == ErrorKind::kBadSample;
      if (bad && bad_samples_.insert(failed_sample).second) metrics_.add(Metric::kBadSamples, 1);
      epoch_error_ = std::current_exception();
      throw;
    }
    wake_reader_if_room();
    workers_wake_.notify_all();  // memory may have gone to a batch whose tickets are ready
  }
  try {
    return deliver(std::move(batch));
  } catch (...) {  // the audit could not be written: an epoch with a gap in it is of no use
    epoch_error_ = std::current_exception();
    throw;
  }
}

void Loader::Engine::wait_for_batch(std::unique_lock<std::mutex>& lock,
                                    std::optional<std::chrono::steady_clock::time_point> deadline) {
  const std::int64_t since = now_ns();
  const auto ready = [&] { return closing_ || interrupted_ || failure_ || board_.front_sealed() || board_.starved(); };
  if (deadline) {
    consumer_wakes_.wait_until(lock, *deadline, ready);
  } else {
    consumer_wakes_.wait(lock, ready);
  }
  metrics_.add(Metric::kConsumerWaitNs, now_ns() - since);
  check_open();
  if (failure_) std::rethrow_exception(failure_);
  if (!board_.front_sealed() && board_.starved()) {
    if (board_.allocation_error()) std::rethrow_exception(board_.allocation_error());
    fail(ErrorKind::kMemory,
         "the consumer holds {} batches of {} and the memory budget allows no more; let go of batches, or give the "
         "loader more memory",
         board_.held(), format_size(static_cast<double>(board_.batch_bytes())));
  }
}

BatchPtr Loader::Engine::deliver(std::unique_ptr<Batch> batch) {
  BatchPtr delivered(batch.release(), [engine = shared_from_this()](Batch* back) { engine->take_back(back); });
  if (audit_) audit_->write(*delivered);
  ++delivered_;
  metrics_.add(Metric::kBatches, 1);
  metrics_.add(Metric::kSamples, delivered->valid_count());
  if (!first_delivered_) metrics_.set(Metric::kFirstBatchNs, now_ns() - first_start_ns_);
  first_delivered_ = true;
  if (progress_) progress_({epoch_, delivered_, batches_per_epoch_, metrics_.read()[Metric::kSamples]});
  return delivered;
}

void Loader::Engine::take_back(Batch* batch) noexcept {
  std::unique_ptr<Batch> owned(batch);
  if (!home_.here()) return;
  const std::lock_guard lock(mutex_);
  board_.release(std::move(owned));
  wake_reader_if_room();
  workers_wake_.notify_all();
  consumer_wakes_.notify_all();
}

// --- from any thread

void Loader::Engine::set(const Knobs& knobs) {
  check_home();
  const std::lock_guard knobs_lock(knobs_mutex_);
  if (knobs.threads) check_threads(*knobs.threads);
  if (knobs.prefetch) {
    const std::lock_guard lock(mutex_);
    check_prefetch(*knobs.prefetch, board_.batch_bytes(), board_.batch_memory_max());
    board_.set_prefetch(*knobs.prefetch);
    wake_reader_if_room();
    workers_wake_.notify_all();
  }
  {
    const std::lock_guard lock(mutex_);
    if (closing_) return;
  }
  if (knobs.threads) resize_workers(*knobs.threads);
  log(LogLevel::kDebug, "knobs: threads {}, prefetch {}", threads(), prefetch());
}

void Loader::Engine::interrupt() {
  check_home();
  const std::lock_guard lock(mutex_);
  interrupted_ = true;
  consumer_wakes_.notify_all();
}

Metrics Loader::Engine::metrics() const {
  check_home();
  Metrics metrics = metrics_.read();
  const std::lock_guard lock(mutex_);
  metrics.values[static_cast<std::size_t>(Metric::kReadAheadBytes)] =
      static_cast<std::int64_t>(board_.read_ahead_used());
  metrics.values[static_cast<std::size_t>(Metric::kBatchBytes)] = static_cast<std::int64_t>(board_.batch_memory());
  return metrics;
}

int Loader::Engine::threads() const {
  check_home();
  const std::lock_guard lock(mutex_);
  return worker_target_;
}

int Loader::Engine::prefetch() const {
  check_home();
  const std::lock_guard lock(mutex_);
  return board_.prefetch();
}

}  // namespace stoker
