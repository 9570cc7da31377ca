#include "stoker/runtime/engine/workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <span>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/threads.h"
#include "stoker/format/class_number.h"

namespace stoker {

Workers::Workers(EngineCore& core, Reader& reader, std::uint64_t seed)
    : core_(core),
      reader_(reader),
      seed_(seed),
      wants_label_(std::any_of(core.plan.views().begin(), core.plan.views().end(),
                               [](const ViewPlan& view) { return view.kind == ViewKind::kLabel; })) {}

void Workers::join() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Workers::resize(int threads) {
  {
    const std::lock_guard lock(core_.mutex);
    core_.worker_target = threads;
    core_.wake_all_workers();
    core_.observe();
  }
  while (static_cast<int>(threads_.size()) > threads) {
    threads_.back().join();
    threads_.pop_back();
  }
  const std::size_t before = threads_.size();
  try {
    translate_thread_errors([&] {
      core_.metrics.have_workers(threads);
      if (core_.trace) core_.trace->have_workers(threads);
      while (static_cast<int>(beds_.size()) < threads) beds_.emplace_back();
      {
        const std::lock_guard lock(core_.mutex);
        core_.crew.expect(threads);
      }
      while (static_cast<int>(threads_.size()) < threads) {
        const int number = static_cast<int>(threads_.size());
        threads_.emplace_back([this, number, &bed = beds_[threads_.size()]] { work_loop(number, bed); });
      }
    });
  } catch (...) {
    resize(static_cast<int>(before));
    throw;
  }
}

void Workers::work_loop(int worker, WorkerBed& bed) {
  run_on(core_.cores.cores);
  name_this_thread(fmt::format("stoker-work{}", worker));
  core_.metrics.worker(worker).begin_work();
  std::unique_lock lock(core_.mutex);
  core_.crew.comes();
  lock.unlock();
  try {
    work_until_stopped(worker, bed, lock);
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    core_.fail_with(std::current_exception());
  }
  core_.crew.goes();
  core_.wake_worker();  // it may have been the one that was called
  core_.metrics.worker(worker).end();
}

namespace {

/// What an executor has done since it was `reported`, for a ticket.
void report(const ExecutorCounts& counts, ExecutorCounts& reported, const Ticket& ticket, WorkerCounters& counters) {
  static constexpr std::pair<Metric, std::int64_t ExecutorCounts::*> kCounts[] = {
      {Metric::kFieldsNs, &ExecutorCounts::fields_ns},
      {Metric::kMemoryWaitNs, &ExecutorCounts::memory_wait_ns},
      {Metric::kFunctionNs, &ExecutorCounts::function_ns},
      {Metric::kFunctionInsideNs, &ExecutorCounts::function_inside_ns},
      {Metric::kJpegFallbacks, &ExecutorCounts::jpeg_fallbacks},
      {Metric::kEntryPointsUsed, &ExecutorCounts::entry_points_used},
      {Metric::kNvjpegImages, &ExecutorCounts::nvjpeg_images},
  };
  for (const auto& [metric, count] : kCounts) {
    if (counts.*count != reported.*count) counters.add(metric, counts.*count - reported.*count);
  }
  for (std::size_t run = 0; run < counts.stages_ns.size(); ++run) {
    const std::int64_t spent_ns = counts.stages_ns[run] - reported.stages_ns[run];
    if (spent_ns != 0) counters.add(stage_ns(run), spent_ns);
  }
  reported = counts;
  if (!ticket.cached) return;
  counters.add(Metric::kCacheHits, 1);
  for (const FieldRead& read : ticket.reads) {
    counters.add(Metric::kBytesFromCache, static_cast<std::int64_t>(read.content.size()));
  }
}

TraceEvent batch_work_event(TraceKind kind, const BatchWork& work, std::int64_t begin_ns, std::int64_t end_ns) {
  return {.kind = kind, .begin_ns = begin_ns, .end_ns = end_ns, .epoch = work.epoch, .batch = work.index};
}

TraceEvent sample_event(const Ticket& ticket, std::int64_t begin_ns, std::int64_t end_ns, const StageTimes& before_ns,
                        const StageTimes& after_ns) {
  TraceEvent event{.kind = TraceKind::kSample,
                   .begin_ns = begin_ns,
                   .end_ns = end_ns,
                   .epoch = ticket.work->epoch,
                   .batch = ticket.work->index,
                   .number = ticket.position};
  for (std::size_t run = 0; run < after_ns.size(); ++run) event.parts_ns[run] = after_ns[run] - before_ns[run];
  return event;
}

}  // namespace

void Workers::trace(int worker, TraceEvent event) const { core_.trace->worker(worker).add(event); }

void Workers::work_until_stopped(int worker, WorkerBed& bed, std::unique_lock<std::mutex>& lock) {
  ScratchGate gate(core_.scratch);
  CpuExecutor executor(core_.plan, core_.limits, &gate);
  WorkerCounters& counters = core_.metrics.worker(worker);
  ExecutorCounts reported;
  Ticket* room[WorkerCrew::kTicketsMax];
  lock.lock();
  for (;;) {
    const std::size_t count = await_work(worker, bed, room, counters, lock);
    if (count == 0 && must_leave(worker)) return;
    if (count == 0) {
      run_steps(worker, lock);
      grant_memory(worker, counters, lock);
    }
    for (std::span<Ticket* const> tickets(room, count); !tickets.empty();) {
      core_.observe();
      unlock_and_wake(lock);
      const std::int64_t began_ns = now_ns();
      std::int64_t spent_ns = 0;
      std::size_t done = 0;
      while (done < tickets.size() && spent_ns < WorkerCrew::kWorthWakingNs) {
        Ticket& ticket = *tickets[done++];
        const StageTimes before_ns = reported.stages_ns;
        work_on(ticket, executor);
        gate.drop_too_much(executor);
        report(executor.counts(), reported, ticket, counters);
        const std::int64_t now = now_ns();
        if (core_.trace) trace(worker, sample_event(ticket, began_ns + spent_ns, now, before_ns, reported.stages_ns));
        spent_ns = now - began_ns;
      }
      lock.lock();
      core_.crew.worked(done, spent_ns);
      finish(tickets.first(done), worker, executor, counters, lock);
      tickets = tickets.subspan(done);
    }
  }
}

bool Workers::must_leave(int worker) const { return core_.closing || worker >= core_.worker_target; }

// Sleeps until there is something to do. Returns how many tickets it took, the oldest; none: there is other work, or
// the worker must leave.
std::size_t Workers::await_work(int worker, WorkerBed& bed, std::span<Ticket*> room, WorkerCounters& counters,
                                std::unique_lock<std::mutex>& lock) {
  TicketBoard& tickets = core_.board.tickets;
  for (;;) {
    if (must_leave(worker)) return 0;
    const std::size_t share = core_.crew.share(tickets.workable_count(), core_.worker_target);
    const std::size_t count = tickets.take(room.first(share));
    if (count > 0 || tickets.has_written() || tickets.may_grant()) return count;
    const std::optional<Reader::Starvation> starvation = reader_.starvation_begins();
    core_.observe();
    counters.begin_idle();
    core_.crew.falls_asleep(bed);
    bed.wake.wait(lock, [&] { return bed.called; });
    core_.crew.wakes_up();
    counters.begin_work();
    if (starvation) reader_.starvation_ends(*starvation);
  }
}

// The one that is woken needs the lock.
void Workers::unlock_and_wake(std::unique_lock<std::mutex>& lock) {
  WorkerBed* const bed = core_.call_worker();
  lock.unlock();
  if (bed) bed->wake.notify_one();
}

// The tickets' slots are written.
void Workers::finish(std::span<Ticket* const> tickets, int worker, CpuExecutor& executor, WorkerCounters& counters,
                     std::unique_lock<std::mutex>& lock) {
  for (Ticket* const ticket : tickets) {
    const bool complete = finish(*ticket, worker, executor, counters, lock);
    if (complete) run_steps(worker, lock);
    if (complete || core_.board.tickets.starved()) core_.consumer_wakes.notify_all();
  }
  reader_.wake_if_room();
}

// The ticket's slot is written: what its batch waited for is done, without the lock and by the worker in whose caches
// the slot is. Whether the batch is complete.
bool Workers::finish(Ticket& ticket, int worker, CpuExecutor& executor, WorkerCounters& counters,
                     std::unique_lock<std::mutex>& lock) {
  BatchTask task;
  bool complete = core_.board.tickets.finish(ticket, &task);
  while (task.work) {
    std::exception_ptr error;
    const bool mixes = task.kind == BatchTask::Kind::kMix;
    lock.unlock();
    const std::int64_t began = now_ns();
    if (mixes) {
      task.work->batch->mix(task.first, task.count);
      counters.add(Metric::kMixNs, now_ns() - began);
    } else {
      error = call_functions(*task.work, executor);
    }
    if (core_.trace) {
      trace(worker, batch_work_event(mixes ? TraceKind::kMix : TraceKind::kCall, *task.work, began, now_ns()));
    }
    lock.lock();
    complete = core_.board.tickets.done(task, std::move(error));
  }
  return complete;
}

// Functions of whole batches. What went wrong, naming the batch.
std::exception_ptr Workers::call_functions(const BatchWork& work, CpuExecutor& executor) const {
  SampleDraw draw = batch_draw(work, seed_);
  draw.position = static_cast<std::uint64_t>(work.batch->position.front());
  try {
    work.batch->call_functions(draw, executor);
  } catch (const Error& error) {
    return std::make_exception_ptr(error.with_context(fmt::format("batch {} of epoch {}", work.index, work.epoch)));
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

// Makes memory ready for the first batch without any. The lock is held, but not while a device or a stream of the
// consumer is waited for, or memory is allocated.
void Workers::grant_memory(int worker, WorkerCounters& counters, std::unique_lock<std::mutex>& lock) {
  BatchGrant grant;
  if (core_.closing || !core_.board.tickets.may_grant()) return;
  if (!core_.board.tickets.take_grant(grant)) return core_.consumer_wakes.notify_all();  // it learns that there is none
  core_.observe();
  core_.crew.goes();
  unlock_and_wake(lock);
  counters.begin_idle();
  const std::int64_t began = core_.trace ? now_ns() : 0;
  core_.board.batches.prepare(grant, grant.work->slots);
  if (core_.trace) trace(worker, batch_work_event(TraceKind::kMemory, *grant.work, began, now_ns()));
  counters.begin_work();
  lock.lock();
  core_.crew.comes();
  core_.board.tickets.granted(grant);
  if (grant.error) core_.consumer_wakes.notify_all();
  if (!grant.batch) return;
  lock.unlock();
  grant.batch.reset();
  lock.lock();
}

// Takes written batches through their steps. The lock is held, but not during a step. A worker that is to stop leaves
// the next batch to the others, since there may always be a next one.
void Workers::run_steps(int worker, std::unique_lock<std::mutex>& lock) {
  while (BatchWork* const work = core_.board.tickets.take_written()) {
    std::exception_ptr error;
    core_.crew.goes();
    unlock_and_wake(lock);
    const std::int64_t began = core_.trace ? now_ns() : 0;
    try {
      for (const auto& step : core_.steps) step->run(*work->batch);
    } catch (...) {
      error = std::current_exception();
    }
    if (core_.trace) trace(worker, batch_work_event(TraceKind::kHandedOver, *work, began, now_ns()));
    lock.lock();
    core_.crew.comes();
    core_.board.tickets.steps_done(*work, std::move(error));
    core_.consumer_wakes.notify_all();
    if (worker >= core_.worker_target) return;
  }
}

namespace {

/// Where nothing else says which class, a `cls` does: its number, or one below 0 for none; else the sample is bad. Few
/// have a `cls` and no label, so it is read here. One whose index knows that it was checked is not read.
void require_class_or_none(const SampleRow& row) {
  const SampleField* const field = row.field("cls");
  const bool is_checked = row.soundness == Soundness::kClean || row.soundness == Soundness::kConcealed;
  if (!field || row.label >= 0 || row.relabelled || is_checked) return;
  std::array<std::uint8_t, kClassNumberBytesMax> text;
  const bool is_short = field->length <= text.size();
  if (is_short) read_checked(row, *field, MutableBytes(text).first(static_cast<std::size_t>(field->length)));
  if (is_short && parse_whole_number(as_text(text).substr(0, field->length), field->length)) return;
  fail(ErrorKind::kBadSample, "its field 'cls' is not a class number");
}

}  // namespace

void Workers::make(Ticket& ticket, CpuExecutor& executor) const {
  if (ticket.error) std::rethrow_exception(ticket.error);
  Bytes fields[kOutputsMax];  // plan_memory() refuses recipes with more
  const std::size_t count = core_.plan.fields().size();
  for (std::size_t i = 0; i < count; ++i) {
    const FieldRead& read = ticket.reads[i];
    fields[i] = read.content;
    if (const FieldWindow* const window = ticket.window_of(i)) {
      check_window(ticket.row, *read.field, *window, fields[i]);
      continue;
    }
    // What is kept was checked, as far as it was wanted then.
    if (!ticket.cached || read.field->chunks > 0) check_wanted(ticket.row, *read.field, read.wanted, fields[i]);
  }
  if (wants_label_) require_class_or_none(ticket.row);
  const bool has_entry_points = ticket.entry_points_of >= 0;
  const SampleInput input{
      .fields = std::span(fields, count),
      .windows = ticket.windows,
      .entry_points = has_entry_points ? ticket.reads.back().content : Bytes(),
      .entry_points_of = ticket.entry_points_of,
      .has_faults = ticket.row.soundness == Soundness::kConcealed || ticket.row.soundness == Soundness::kBad,
      .label = ticket.row.label,
      .draw = sample_draw(ticket, seed_)};
  try {
    ticket.work->batch->write(ticket.slot, input, executor);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kLimit) throw;
    throw Error(ErrorKind::kBadSample, error.message());  // an image that is too large is so everywhere
  }
}

// Writes the ticket's slot, or leaves the reason why not in the ticket.
void Workers::work_on(Ticket& ticket, CpuExecutor& executor) const {
  LoaderBatch& batch = *ticket.work->batch;
  if (ticket.padding()) return batch.write_padding(ticket.slot);
  try {
    make(ticket, executor);
    core_.board.locator.keep_in_cache(ticket);
  } catch (const Error& error) {
    // What went wrong while the row was looked for names its file itself.
    if (ticket.row.source) ticket.error = std::make_exception_ptr(error.with_context(describe(ticket.row)));
  } catch (const std::bad_alloc&) {
    const Error error(ErrorKind::kMemory, "the machine has no memory left to decode it");
    ticket.error = std::make_exception_ptr(error.with_context(describe(ticket.row)));
  }
  if (ticket.error && core_.bad_sample == BadSlotPolicy::kSkip) batch.write_padding(ticket.slot);
}

}  // namespace stoker
