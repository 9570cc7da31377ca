#include "stoker/runtime/engine/consumer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/hash.h"
#include "stoker/base/log.h"
#include "stoker/base/units.h"

namespace stoker {
namespace {

// Bad samples of an epoch that are taken for accidents: so many, or one in so many slots of this rank.
constexpr std::int64_t kBadSamplesMin = 10, kBadSamplesShare = 1000;

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
              .recipe = hash64(core.plan.recipe().to_toml()),
              .order = core.board.order.options(),
              .semantics = kSemanticsVersion,
              .nvjpeg = options.given.nvjpeg}),
      batches_per_epoch_(core.board.order.batches_per_epoch()) {}

void Consumer::start_epoch(std::int64_t epoch) {
  core_.check_home();
  if (epoch < 0) fail(ErrorKind::kUsage, "epochs are numbered from 0; {} was asked for", epoch);
  if (epoch >= epochs_end_) {
    fail(ErrorKind::kUsage, "epoch {} was asked for, but the loader was made for those up to {}", epoch,
         epochs_end_ - 1);
  }
  drop_arriving();
  const std::lock_guard lock(core_.mutex);
  core_.check_open();
  if (first_start_ns_ == 0) first_start_ns_ = now_ns();
  const std::optional<LoaderPosition> resume = std::exchange(resume_, std::nullopt);
  delivered_ = resume && resume->epoch == epoch ? resume->batch : 0;
  const bool goes_back = resume && epoch < resume->epoch;
  core_.board.tickets.start_epoch(epoch, delivered_);
  epoch_ = epoch;
  epoch_bad_.clear();
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

std::int64_t Consumer::next_epoch() const {
  core_.check_home();
  if (!resume_) return epoch_ + 1;
  return resume_->batch == core_.board.order.global_batches() ? resume_->epoch + 1 : resume_->epoch;
}

LoaderPosition Consumer::position() const {
  core_.check_home();
  if (resume_) return *resume_;
  if (epoch_ < 0) return {};
  return {epoch_, in_epoch_ ? delivered_ : core_.board.order.global_batches()};
}

std::string Consumer::state() const { return state_.to_json(position()); }

std::vector<BadSample> Consumer::bad_samples() const {
  std::vector<BadSample> samples;
  for (const auto& [number, sample] : bad_samples_) samples.push_back(sample);
  return samples;
}

LoaderPosition Consumer::load_state(std::string_view json) {
  core_.check_home();
  const LoaderPosition position = state_.parse(json);
  if (position.batch > core_.board.order.global_batches()) {
    fail(ErrorKind::kUsage, "the state is damaged: it stands before batch {} of an epoch of {}", position.batch,
         core_.board.order.global_batches());
  }
  drop_arriving();
  resume_ = position;
  in_epoch_ = false;
  epoch_error_ = nullptr;
  return position;
}

std::optional<BatchPtr> Consumer::next(Deadline deadline, const std::shared_ptr<void>& owner) {
  core_.check_home();
  if (step_since_ns_ != 0) {
    core_.metrics.add(Metric::kConsumerSteps, 1);
    core_.metrics.add(Metric::kConsumerStepNs, now_ns() - std::exchange(step_since_ns_, 0));
  }
  if (epoch_error_) std::rethrow_exception(epoch_error_);
  if (!in_epoch_ && next_epoch() >= epochs_end_) return BatchPtr();
  if (!in_epoch_) start_epoch(next_epoch());
  const bool at_end = delivered_ >= batches_per_epoch_;  // a state may stand behind a last batch that has none of ours
  if (!at_end && !arriving_ && !pop_arriving(deadline)) return std::nullopt;
  try {
    const std::size_t on_device_max = at_end || !core_.device || core_.device->memory_is_host() ? 0 : kOnDeviceMax;
    if (!await_device(on_device_max, deadline)) return std::nullopt;
    if (!at_end) report_bad();
    if (epoch_error_) std::rethrow_exception(epoch_error_);
    if (at_end) return end_epoch();
    return deliver(std::move(arriving_), owner);
  } catch (...) {  // the audit could not be written, for instance: an epoch with a gap in it is of no use
    epoch_error_ = std::current_exception();
    drop_arriving();
    throw;
  }
}

BatchPtr Consumer::end_epoch() {
  in_epoch_ = false;
  core_.metrics.add(Metric::kEpochs, 1);
  log(LogLevel::kDebug, "epoch {} ended after {}", epoch_, counted(delivered_, "batch"));
  if (!epoch_bad_.empty()) log(LogLevel::kWarning, "bad samples in epoch {}: {}", epoch_, epoch_bad_.size());
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
    waited_ns_ = waited_ns;
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
  consumer_waits(true);
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
      on_device_.pop_front();
      core_.board.batches.device_done(oldest);
      reader_.wake_if_room();
      core_.wake_worker();
    } else {
      core_.consumer_waits = !core_.closing && !core_.interrupted;
      core_.check_open();
      in_time = !deadline || std::chrono::steady_clock::now() < *deadline;
    }
  }
  consumer_waits(false);
  return in_time;
}

void Consumer::count_device(const StageTimes& stages_ns) {
  for (std::size_t run = 0; run < stages_ns.size(); ++run) {
    if (kStageRuns[run].side != StageSide::kDevice) continue;
    core_.metrics.add(stage_ns(run), stages_ns[run]);
    core_.metrics.add(Metric::kDeviceNs, stages_ns[run]);
  }
}

void Consumer::consumer_waits(bool waits) {
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
    core_.consumer_waits = true;
    core_.observe();
    if (deadline) {
      core_.consumer_wakes.wait_until(lock, *deadline, ready);
    } else {
      core_.consumer_wakes.wait(lock, ready);
    }
    core_.consumer_waits = false;
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
       "the consumer holds {} of {} and the budget of {}memory allows no more; release batches, or give the "
       "loader more {}memory",
       counted(batches.held(), "batch"), format_size(static_cast<double>(bytes)), of_host ? "" : "device ",
       of_host ? "" : "device ");
}

// Tells of the bad samples that the batch at hand met. More than a few are no accident.
void Consumer::report_bad() {
  const std::int64_t slots = batches_per_epoch_ * batch_;
  const std::int64_t most = std::max(kBadSamplesMin, slots / kBadSamplesShare);
  for (const BadSlot& bad : bad_) {
    const bool is_new = bad_samples_.emplace(bad.sample, bad.bad).second;
    if (is_new) core_.metrics.add(Metric::kBadSamples, 1);
    if (bad.known) continue;
    if (is_new) {
      if (core_.bad_sample != BadSlotPolicy::kFail) log(LogLevel::kWarning, "bad sample: {}", bad.bad.reason);
      if (core_.quarantine) core_.quarantine->add(bad.bad);
    }
    if (core_.bad_sample == BadSlotPolicy::kFail || !epoch_bad_.insert(bad.sample).second) continue;
    if (static_cast<std::int64_t>(epoch_bad_.size()) <= most) continue;
    fail(ErrorKind::kBadSample,
         "epoch {} has met {} bad samples, more than the {} that may be accidents; the last: {}{}", epoch_,
         epoch_bad_.size(), most, bad.bad.reason,
         core_.quarantine
             ? fmt::format("; '{}' lists them", core_.quarantine->path())
             : "; --quarantine FILE (in Python: quarantine=) lists them, and the next run passes over those listed");
  }
}

BatchPtr Consumer::deliver(std::unique_ptr<LoaderBatch> batch, const std::shared_ptr<void>& owner) {
  BatchPtr delivered(batch.release(), [this, owner](LoaderBatch* back) { release(back); });
  if (audit_) audit_->write(*delivered);
  ++delivered_;
  core_.metrics.add(Metric::kBatches, 1);
  core_.metrics.add(Metric::kSamples, delivered->valid_count());
  if (!first_delivered_) core_.metrics.set(Metric::kFirstBatchNs, now_ns() - first_start_ns_);
  first_delivered_ = true;
  if (progress_) progress_({epoch_, delivered_, batches_per_epoch_, core_.metrics.value(Metric::kSamples)});
  step_since_ns_ = now_ns();
  tell_delivered(step_since_ns_);
  return delivered;
}

// The consumer has got a batch.
void Consumer::tell_delivered(std::int64_t delivered_ns) {
  const std::int64_t wait_ns = std::exchange(waited_ns_, 0);
  const std::int64_t made = made_ - std::exchange(made_before_, made_);
  const std::int64_t before_ns = std::exchange(delivered_at_ns_, delivered_ns);
  if (delivered_told_ && before_ns != 0) {
    delivered_told_({.step_ns = delivered_ns - before_ns - wait_ns, .wait_ns = wait_ns, .made = made});
  }
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
