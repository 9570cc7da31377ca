#include "stoker/runtime/engine/consumer.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <numeric>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/log.h"
#include "stoker/base/units.h"
#include "stoker/base/user_cache.h"

namespace stoker {
namespace {

// Batches that the consumer may have while a GPU is still at work on them. Its next ones come from other memory, and
// what it found out about one is told with one of the next two.
constexpr std::size_t kOnDeviceMax = 2;

constexpr std::int64_t kDevicePatienceNs = 20'000'000;  // to notice an interrupt

/// Adds the time that it lives.
class WaitTimer {
 public:
  explicit WaitTimer(std::int64_t& into) : into_(into), since_ns_(now_ns()) {}
  ~WaitTimer() { into_ += now_ns() - since_ns_; }
  WaitTimer(const WaitTimer&) = delete;
  WaitTimer& operator=(const WaitTimer&) = delete;

 private:
  std::int64_t& into_;
  const std::int64_t since_ns_;
};

// The functions that draw random numbers of their own.
std::string unrepeatable(const Plan& plan) {
  std::string names;
  for (const FunctionPlan& function : plan.functions()) {
    if (function.spec.random != FunctionRandom::kOwn) continue;
    names += (names.empty() ? "" : ",") + function.spec.name;
  }
  return names;
}

}  // namespace

Consumer::Consumer(EngineCore& core, Reader& reader, const ResolvedOptions& options)
    : core_(core),
      reader_(reader),
      batch_(options.batch),
      epochs_end_(options.given.epochs_end),
      progress_(options.given.progress),
      audit_(options.given.audit.empty() ? nullptr : std::make_unique<AuditWriter>(options.given.audit)),
      state_({.data = core.dataset->fingerprint(),
              .samples = core.dataset->size(),
              .recipe = core.plan.recipe().hash(),
              .order = core.board.order.options(),
              .semantics = kSemanticsVersion,
              .nvjpeg = options.given.nvjpeg,
              .own_random = unrepeatable(core.plan)}),
      step_keeper_(KeptStep(options.given.keep_step ? user_cache_folder() : std::string(),
                            {.data = core.dataset->fingerprint(), .recipe = core.plan.recipe().hash()}),
                   options.batch, options.world),
      step_goes_on_(options.given.step_goes_on),
      batches_per_epoch_(core.board.order.batches_per_epoch()),
      reports_([&core] { return core.read_metrics(); }),
      bad_samples_(core, batches_per_epoch_ * batch_) {}

void Consumer::close() noexcept {
  audit_.reset();
  try {
    step_keeper_.rest(reports_.steps(), reports_.since_beginning());
  } catch (const std::bad_alloc&) {  // the step is not kept, and to say so would need memory, too
  }
}

void Consumer::start_epoch(std::int64_t epoch) {
  core_.check_home();
  if (epoch < 0) fail(ErrorKind::kUsage, "epochs are numbered from 0; {} was asked for", epoch);
  if (epoch >= epochs_end_) {
    fail(ErrorKind::kUsage, "epoch {} was asked for, but the loader was made for those up to {}", epoch,
         epochs_end_ - 1);
  }
  if (audit_) audit_->begin();
  drop_arriving();
  reports_.begin_epoch(epoch);
  const std::lock_guard lock(core_.mutex);
  core_.check_open();
  if (first_start_ns_ == 0) first_start_ns_ = now_ns();
  const std::optional<LoaderPosition> resume = std::exchange(resume_, std::nullopt);
  left_.reset();
  delivered_ = resume && resume->epoch == epoch ? resume->batch : 0;
  const bool goes_back = resume && epoch < resume->epoch;
  on_request_ = false;
  core_.board.tickets.start_epoch(epoch, delivered_);
  epoch_ = epoch;
  bad_samples_.begin_epoch(epoch);
  in_epoch_ = true;
  epoch_error_ = nullptr;
  step_since_ns_ = 0;  // what it does between epochs is none
  reader_.epoch_started();
  core_.wake_worker();
  core_.observe();
  if (goes_back) {
    log(LogLevel::kWarning, "epoch {} was asked for, so it begins anew; the state that was loaded stood in epoch {}",
        epoch, resume->epoch);
  }
  log(LogLevel::kDebug, "epoch {} begins: {} of {}", epoch, counted(batches_per_epoch_, "batch"), batch_);
}

void Consumer::start_requests() {
  core_.check_home();
  if (audit_) audit_->begin();
  drop_arriving();
  const std::lock_guard lock(core_.mutex);
  core_.check_open();
  if (first_start_ns_ == 0) first_start_ns_ = now_ns();
  core_.board.tickets.start_requests();
  if (!on_request_) left_ = Left{position(), next_epoch()};
  bad_samples_.begin_epoch(epoch_);
  on_request_ = true;
  in_epoch_ = false;
  epoch_error_ = nullptr;
  step_since_ns_ = 0;
  reader_.epoch_started();
  core_.observe();
}

void Consumer::check_request(const LoaderPosition& batch) const {
  core_.check_home();
  if (batch.epoch < 0 || batch.epoch >= epochs_end_ || batch.batch < 0 || batch.batch >= batches_per_epoch_) {
    fail(ErrorKind::kUsage, "there is no batch {} of epoch {}: an epoch has {}", batch.batch, batch.epoch,
         counted(batches_per_epoch_, "batch"));
  }
}

void Consumer::request(const LoaderPosition& batch) {
  check_request(batch);
  const std::lock_guard lock(core_.mutex);
  core_.check_open();
  if (!core_.board.order.on_request()) fail(ErrorKind::kUsage, "the loader runs an epoch: it takes no requests");
  core_.board.order.request(batch.epoch, batch.batch);
  reader_.wake();
}

// The batch that arrives is of an epoch of its own.
void Consumer::follow_request() {
  if (arriving_->epoch != epoch_) {
    epoch_ = arriving_->epoch;
    reports_.begin_epoch(epoch_);
    bad_samples_.begin_epoch(epoch_);
  }
  delivered_ = arriving_->index;
}

std::int64_t Consumer::next_epoch() const {
  core_.check_home();
  if (!resume_) return left_ ? left_->next_epoch : epoch_ + 1;
  return resume_->batch == global_batches() ? resume_->epoch + 1 : resume_->epoch;
}

LoaderPosition Consumer::position() const {
  core_.check_home();
  if (resume_) return *resume_;
  if (left_) return left_->position;
  if (epoch_ < 0) return {};
  return {epoch_, in_epoch_ ? delivered_ : global_batches()};
}

std::string Consumer::state() const { return state_.to_json(position()); }

LoaderPosition Consumer::load_state(std::string_view json) {
  core_.check_home();
  const LoaderPosition position = state_.parse(json);
  if (position.batch > global_batches()) {
    fail(ErrorKind::kUsage, "the state is damaged: it stands before batch {} of an epoch of {}", position.batch,
         global_batches());
  }
  if (audit_) audit_->begin();
  drop_arriving();
  resume_ = position;
  left_.reset();
  in_epoch_ = on_request_ = false;
  epoch_error_ = nullptr;
  return position;
}

// A state may stand after a last batch that has none of ours.
bool Consumer::at_end() const { return !on_request_ && delivered_ >= batches_per_epoch_; }

bool Consumer::wait(Deadline deadline) {
  core_.check_home();
  end_step();
  entered_ns_ = now_ns() - waited_ns_ - late_ns_;
  if (core_.trace && wait_since_ns_ == 0) wait_since_ns_ = now_ns();
  if (epoch_error_) return true;
  if (!in_epoch_ && !on_request_) {
    if (next_epoch() >= epochs_end_) return true;
    start_epoch(next_epoch());
  }
  if (!at_end() && !arriving_ && !pop_arriving(deadline)) return false;
  const std::size_t on_device_max = at_end() || !core_.device || core_.device->memory_is_host() ? 0 : kOnDeviceMax;
  try {
    if (!await_device(on_device_max, deadline)) return false;
  } catch (...) {
    epoch_error_ = std::current_exception();
    drop_arriving();
    throw;
  }
  late_ns_ = now_ns() - entered_ns_ - waited_ns_;
  return true;
}

std::optional<BatchPtr> Consumer::next(Deadline deadline, const std::shared_ptr<void>& owner) {
  if (!wait(deadline)) return std::nullopt;
  if (!epoch_error_ && !in_epoch_ && !on_request_) return BatchPtr();
  try {
    if (on_request_ && arriving_) follow_request();
    if (!at_end()) bad_samples_.add(bad_);
    if (epoch_error_) std::rethrow_exception(epoch_error_);
    if (at_end()) return end_epoch();
    return deliver(std::move(arriving_), owner);
  } catch (...) {  // the audit could not be written, for instance: an epoch with a gap in it is of no use
    epoch_error_ = std::current_exception();
    drop_arriving();
    throw;
  }
}

void Consumer::end_step() {
  if (step_since_ns_ == 0) return;
  const std::int64_t now = now_ns(), step_ns = now - step_since_ns_;
  core_.metrics.add(Metric::kConsumerSteps, 1);
  core_.metrics.add(Metric::kConsumerStepNs, step_ns);
  reports_.steps().add(step_ns, last_wait_ns_);
  if (core_.trace) {
    core_.trace->consumer().add({.kind = TraceKind::kStep,
                                 .begin_ns = step_since_ns_,
                                 .end_ns = now,
                                 .epoch = epoch_,
                                 .batch = delivered_ - 1});
  }
  step_since_ns_ = 0;
}

void Consumer::pause() {
  end_step();
  delivered_at_ns_ = 0;
}

void Consumer::tell_headspace(const StepSummary& alone) {
  const Headspace headspace{.alone = alone, .with_loading_s = reports_.steps().with_waits().mean_s};
  reports_.set_headspace(headspace);
  log(LogLevel::kInfo, "{}", headspace.text());
  step_keeper_.replayed(alone);
}

BatchPtr Consumer::end_epoch() {
  in_epoch_ = false;
  wait_since_ns_ = 0;
  core_.metrics.add(Metric::kEpochs, 1);
  if (const std::optional<LoaderReport> report = reports_.end_epoch(); report && report->steps > 0) {
    log(LogLevel::kInfo, "{}", report->line());
    step_keeper_.rest(reports_.steps(), *report);
  }
  log(LogLevel::kDebug, "epoch {} ended after {}", epoch_, counted(delivered_, "batch"));
  if (bad_samples_.in_epoch() > 0) {
    log(LogLevel::kWarning, "bad samples in epoch {}: {}", epoch_, bad_samples_.in_epoch());
  }
  return nullptr;
}

// The next batch becomes the arriving one, or its error the epoch's; false if the deadline passes first.
bool Consumer::pop_arriving(Deadline deadline) {
  std::unique_lock lock(core_.mutex);
  wait_for_batch(lock, deadline);
  while (lacks_memory_on_device()) {
    lock.unlock();
    // It is the device that is late, with what the consumer gave it to do: that is a part of its step.
    const std::int64_t waited_ns = waited_ns_;
    const bool in_time = await_device(0, deadline);
    entered_ns_ += std::exchange(waited_ns_, waited_ns) - waited_ns;
    if (!in_time) return false;
    if (epoch_error_) return true;
    lock.lock();
    wait_for_batch(lock, deadline);
  }
  if (!core_.board.tickets.front_sealed()) return false;
  try {
    made_ = core_.board.tickets.slots_made();
    arriving_ = core_.board.tickets.pop(bad_);
    if (arriving_->crossed()) {
      arriving_->device_done = false;
      on_device_.push_back(arriving_.get());
    }
  } catch (...) {
    epoch_error_ = std::current_exception();
  }
  reader_.wake_if_room();
  core_.observe();
  core_.wake_worker();  // another batch may have memory
  return true;
}

void Consumer::drop_arriving() noexcept {
  if (arriving_) release(arriving_.release());
}

// Waits until the device is done with all batches but the last so many, and learns how that went: what went wrong is
// the epoch's error. False if the deadline passes first.
bool Consumer::await_device(std::size_t but, Deadline deadline) {
  if (on_device_.empty()) return true;
  const WaitTimer timer(waited_ns_);
  set_waits(ConsumerWait::kDevice);
  bool in_time = true;
  while (in_time && !epoch_error_ && !on_device_.empty()) {
    LoaderBatch& oldest = *on_device_.front();
    const bool must = on_device_.size() > but;
    bool ready = true;
    try {
      ready = oldest.wait_ready(must ? kDevicePatienceNs : 0);
    } catch (...) {
      epoch_error_ = std::current_exception();
    }
    if (!ready && !must) break;
    const std::lock_guard lock(core_.mutex);
    if (ready) {
      count_device(oldest.device_ns());
      if (core_.trace) trace_device(oldest);
      on_device_.pop_front();
      core_.board.batches.device_done(oldest);
      reader_.wake_if_room();
      core_.wake_worker();
    } else {
      core_.consumer_waits = core_.closing || core_.interrupted ? ConsumerWait::kNot : ConsumerWait::kDevice;
      core_.check_open();
      in_time = !deadline || std::chrono::steady_clock::now() < *deadline;
    }
  }
  set_waits(ConsumerWait::kNot);
  return in_time;
}

void Consumer::count_device(const StageTimes& stages_ns) {
  for (std::size_t run = 0; run < stages_ns.size(); ++run) {
    if (kStageRuns[run].side != StageSide::kDevice) continue;
    core_.metrics.add(stage_ns(run), stages_ns[run]);
    core_.metrics.add(Metric::kDeviceNs, stages_ns[run]);
  }
}

void Consumer::set_waits(ConsumerWait waits) {
  const std::lock_guard lock(core_.mutex);
  core_.consumer_waits = waits;
  core_.observe();
}

// Whether the next batch waits for memory that the consumer has released and the device still uses.
bool Consumer::lacks_memory_on_device() const {
  return core_.board.tickets.front_lacks_memory() && !core_.board.tickets.starved() && !on_device_.empty();
}

void Consumer::wait_for_batch(std::unique_lock<std::mutex>& lock, Deadline deadline) {
  const auto ready = [&] {
    return core_.closing || core_.interrupted || core_.failure || core_.board.tickets.front_sealed() ||
           core_.board.tickets.starved() || lacks_memory_on_device();
  };
  if (!ready()) {
    const WaitTimer timer(waited_ns_);
    core_.consumer_waits = ConsumerWait::kBatch;
    core_.observe();
    if (deadline) {
      core_.consumer_wakes.wait_until(lock, *deadline, ready);
    } else {
      core_.consumer_wakes.wait(lock, ready);
    }
    core_.consumer_waits = ConsumerWait::kNot;
    core_.observe();
  }
  core_.check_open();
  if (core_.failure) std::rethrow_exception(core_.failure);
  if (core_.board.tickets.front_sealed() || !core_.board.tickets.starved()) return;
  const BatchPool& batches = core_.board.batches;
  if (batches.error()) std::rethrow_exception(batches.error());
  const bool of_host = batches.memory().host + batches.bytes().host > batches.memory_max().host;
  const std::size_t bytes = of_host ? batches.bytes().host : batches.bytes().device;
  fail(ErrorKind::kMemory,
       "the consumer holds {} of {} and the budget of {}memory allows no more; release batches (a tensor keeps its "
       "whole batch: copy what is to stay, such as labels), or give the loader more {}memory",
       counted(batches.held(), "batch"), format_size(static_cast<double>(bytes)), of_host ? "" : "device ",
       of_host ? "" : "device ");
}

BatchPtr Consumer::deliver(std::unique_ptr<LoaderBatch> batch, const std::shared_ptr<void>& owner) {
  BatchTimes& times = batch->times;
  BatchPtr delivered(batch.release(), [this, owner](LoaderBatch* back) { release(back); });
  if (audit_) audit_->write(*delivered);
  ++delivered_;
  core_.metrics.add(Metric::kBatches, 1);
  core_.metrics.add(Metric::kSamples, delivered->valid_count());
  if (!first_delivered_) {
    core_.metrics.set(Metric::kFirstBatchNs, now_ns() - first_start_ns_);
    reports_.first_batch();
    first_delivered_ = true;
  }
  if (progress_) progress_({epoch_, delivered_, batches_per_epoch_, core_.metrics.value(Metric::kSamples)});
  step_since_ns_ = times.delivered_ns = now_ns();
  if (core_.trace) trace_wait(step_since_ns_);
  count_late(step_since_ns_ - entered_ns_ - waited_ns_);
  late_ns_ = 0;
  tell_delivered(step_since_ns_);
  return delivered;
}

// The batch was there, and the consumer took so long to get it: it waited for a core, or for a lock whose holder did.
void Consumer::count_late(std::int64_t late_ns) {
  if (step_goes_on_) {
    core_.metrics.add(Metric::kConsumerStepNs, late_ns);
  } else {
    core_.metrics.add(Metric::kConsumerWaitNs, late_ns);
    core_.metrics.add(Metric::kConsumerWaitWorkersNs, late_ns);
  }
}

// The consumer has got a batch.
void Consumer::tell_delivered(std::int64_t delivered_ns) {
  const std::int64_t wait_ns = last_wait_ns_ = std::exchange(waited_ns_, 0);
  const std::int64_t made = made_ - std::exchange(made_before_, made_);
  const std::int64_t before_ns = std::exchange(delivered_at_ns_, delivered_ns);
  if (delivered_told_ && before_ns != 0) {
    delivered_told_({.step_ns = delivered_ns - before_ns - wait_ns, .wait_ns = wait_ns, .made = made});
  }
}

void Consumer::trace_wait(std::int64_t end_ns) {
  core_.trace->consumer().add({.kind = TraceKind::kWait,
                               .begin_ns = std::exchange(wait_since_ns_, 0),
                               .end_ns = end_ns,
                               .epoch = epoch_,
                               .batch = delivered_ - 1});
}

// It does one batch after the other, and may be done before the worker that handed the batch over notes the time.
void Consumer::trace_device(const LoaderBatch& batch) {
  const StageTimes stages_ns = batch.device_ns();
  const std::int64_t end_ns = batch.ready_ns();
  const std::int64_t latest_ns = end_ns - std::accumulate(stages_ns.begin(), stages_ns.end(), std::int64_t{0});
  const std::int64_t begin_ns = std::max(std::min(batch.times.sealed_ns, latest_ns), device_until_ns_);
  if (end_ns <= begin_ns) return;
  core_.trace->consumer().add(
      {.kind = TraceKind::kDevice, .begin_ns = begin_ns, .end_ns = end_ns, .epoch = batch.epoch, .batch = batch.index});
  device_until_ns_ = end_ns;
}

void Consumer::release(LoaderBatch* batch) noexcept {
  if (!core_.home.here()) {
    if (!core_.device && !core_.pinned)
      delete batch;  // a GPU is out of a forked child's reach, and what is there stays there
    return;
  }
  batch->release();
  std::unique_ptr<LoaderBatch> owned(batch);
  std::unique_lock lock(core_.mutex);
  if (core_.trace && batch->times.delivered_ns != 0) {
    core_.trace->shared().add(batch_event(batch->epoch, batch->index, batch->times, now_ns()));
  }
  TicketBoard& tickets = core_.board.tickets;
  BatchPool& batches = core_.board.batches;
  batches.release(std::move(owned));
  reader_.wake_if_room();
  core_.wake_worker();
  core_.consumer_wakes.notify_all();
  while (std::unique_ptr<LoaderBatch> surplus = batches.take_surplus(tickets.prefetch(), tickets.lacking())) {
    lock.unlock();
    surplus.reset();
    lock.lock();
  }
  core_.observe();
}

}  // namespace stoker
