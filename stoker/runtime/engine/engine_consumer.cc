// The consumer's side of the loader: epochs, and the batches that it takes and gives back.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/log.h"
#include "stoker/base/units.h"
#include "stoker/runtime/engine/engine.h"

namespace stoker {
namespace {

// Bad samples of an epoch that are taken for accidents: so many, or one in so many slots of this rank.
constexpr std::int64_t kBadSamplesMin = 10, kBadSamplesShare = 1000;

// Batches that the consumer may have while a GPU is still at work on them. Its next ones come from other memory, and
// what it found out about one is told with one of the next two.
constexpr std::size_t kUnsettledMax = 2;

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

void Engine::start_epoch(std::int64_t epoch) {
  check_home();
  if (epoch < 0) fail(ErrorKind::kUsage, "epochs are numbered from 0; {} was asked for", epoch);
  if (epoch >= epochs_end_) {
    fail(ErrorKind::kUsage, "epoch {} was asked for, but the loader was made for those up to {}", epoch,
         epochs_end_ - 1);
  }
  drop_arriving();
  const std::lock_guard lock(mutex_);
  check_open();
  if (first_start_ns_ == 0) first_start_ns_ = now_ns();
  const std::optional<LoaderPosition> resume = std::exchange(resume_, std::nullopt);
  delivered_ = resume && resume->epoch == epoch ? resume->batch : 0;
  const bool goes_back = resume && epoch < resume->epoch;
  board_.start_epoch(epoch, delivered_);
  epoch_started_ = true;
  epoch_ = epoch;
  epoch_bad_.clear();
  in_epoch_ = true;
  epoch_error_ = nullptr;
  step_since_ns_ = 0;  // what it does between epochs is none
  reader_waits_ = false;
  reader_wakes_.notify_one();
  wake_worker();
  observe();
  if (goes_back) {
    log(LogLevel::kWarning, "epoch {} was asked for, so it begins anew; the state that was loaded stood in epoch {}",
        epoch, resume->epoch);
  }
  log(LogLevel::kDebug, "epoch {} begins: {} of {}", epoch, counted(batches_per_epoch_, "batch"), batch_);
}

std::int64_t Engine::next_epoch() const {
  check_home();
  if (!resume_) return epoch_ + 1;
  return resume_->batch == board_.global_batches() ? resume_->epoch + 1 : resume_->epoch;
}

LoaderPosition Engine::position() const {
  check_home();
  if (resume_) return *resume_;
  if (epoch_ < 0) return {};
  return {epoch_, in_epoch_ ? delivered_ : board_.global_batches()};
}

std::string Engine::state() const { return state_.to_json(position()); }

std::vector<BadSample> Engine::bad_samples() const {
  std::vector<BadSample> samples;
  for (const auto& [number, sample] : bad_samples_) samples.push_back(sample);
  return samples;
}

LoaderPosition Engine::load_state(std::string_view json) {
  check_home();
  const LoaderPosition position = state_.parse(json);
  if (position.batch > board_.global_batches()) {
    fail(ErrorKind::kUsage, "the state is damaged: it stands before batch {} of an epoch of {}", position.batch,
         board_.global_batches());
  }
  drop_arriving();
  resume_ = position;
  in_epoch_ = false;
  epoch_error_ = nullptr;
  return position;
}

std::optional<BatchPtr> Engine::next(Deadline deadline) {
  check_home();
  if (step_since_ns_ != 0) {
    metrics_.add(Metric::kConsumerSteps, 1);
    metrics_.add(Metric::kConsumerStepNs, now_ns() - std::exchange(step_since_ns_, 0));
  }
  if (epoch_error_) std::rethrow_exception(epoch_error_);
  if (!in_epoch_ && next_epoch() >= epochs_end_) return BatchPtr();
  if (!in_epoch_) start_epoch(next_epoch());
  const bool at_end = delivered_ >= batches_per_epoch_;  // a state may stand behind a last batch that has none of ours
  if (!at_end && !arriving_ && !pop_arriving(deadline)) return std::nullopt;
  try {
    const std::size_t unsettled_max = at_end || !device_ || device_->memory_is_host() ? 0 : kUnsettledMax;
    if (!settle(unsettled_max, deadline)) return std::nullopt;
    if (!at_end) report_bad();
    if (epoch_error_) std::rethrow_exception(epoch_error_);
    if (at_end) return end_epoch();
    return deliver(std::move(arriving_));
  } catch (...) {  // the audit could not be written, for instance: an epoch with a gap in it is of no use
    epoch_error_ = std::current_exception();
    drop_arriving();
    throw;
  }
}

BatchPtr Engine::end_epoch() {
  in_epoch_ = false;
  metrics_.add(Metric::kEpochs, 1);
  log(LogLevel::kDebug, "epoch {} ended after {}", epoch_, counted(delivered_, "batch"));
  if (!epoch_bad_.empty()) log(LogLevel::kWarning, "bad samples in epoch {}: {}", epoch_, epoch_bad_.size());
  return nullptr;
}

// The next batch becomes the arriving one, or its error the epoch's; false if the deadline passes first.
bool Engine::pop_arriving(Deadline deadline) {
  std::unique_lock lock(mutex_);
  wait_for_batch(lock, deadline);
  while (lacks_unsettled_memory()) {
    lock.unlock();
    // It is the device that is late, with what the consumer gave it to do: that is a part of its step.
    const std::int64_t waited_ns = waited_ns_;
    const bool settled = settle(0, deadline);
    waited_ns_ = waited_ns;
    if (!settled) return false;
    if (epoch_error_) return true;
    lock.lock();
    wait_for_batch(lock, deadline);
  }
  if (!board_.front_sealed()) return false;
  try {
    made_ = board_.slots_made();
    arriving_ = board_.pop(bad_);
    if (arriving_->crossed()) {
      arriving_->settled = false;
      unsettled_.push_back(arriving_.get());
    }
  } catch (...) {
    epoch_error_ = std::current_exception();
  }
  wake_reader_if_room();
  observe();
  wake_worker();  // another batch may have memory
  return true;
}

void Engine::drop_arriving() noexcept {
  if (arriving_) take_back(arriving_.release());
}

// Waits until the device is done with all batches but the last so many, and learns how that went: what went wrong is
// the epoch's error. False if the deadline passes first.
bool Engine::settle(std::size_t but, Deadline deadline) {
  if (unsettled_.empty()) return true;
  const WaitTimer timer(waited_ns_);
  consumer_waits(true);
  bool in_time = true;
  while (in_time && !epoch_error_ && !unsettled_.empty()) {
    LoaderBatch& oldest = *unsettled_.front();
    const bool must = unsettled_.size() > but;
    bool ready = true;
    try {
      ready = oldest.wait_ready(must ? kDevicePatienceNs : 0);
    } catch (...) {
      epoch_error_ = std::current_exception();
    }
    if (!ready && !must) break;
    const std::lock_guard lock(mutex_);
    if (ready) {
      count_device(oldest.device_ns());
      unsettled_.pop_front();
      board_.settled(oldest);
      wake_reader_if_room();
      wake_worker();
    } else {
      consumer_waits_ = !closing_ && !interrupted_;
      check_open();
      in_time = !deadline || std::chrono::steady_clock::now() < *deadline;
    }
  }
  consumer_waits(false);
  return in_time;
}

void Engine::count_device(const DeviceTimes& stages_ns) {
  static constexpr std::array<Metric, static_cast<std::size_t>(DeviceStage::kCount)> kMetricOf = {
      Metric::kDeviceDecodeNs, Metric::kDeviceGeometryColorNs, Metric::kDeviceColorNs};
  for (std::size_t stage = 0; stage < stages_ns.size(); ++stage) {
    metrics_.add(kMetricOf[stage], stages_ns[stage]);
    metrics_.add(Metric::kDeviceNs, stages_ns[stage]);
  }
}

void Engine::consumer_waits(bool waits) {
  const std::lock_guard lock(mutex_);
  consumer_waits_ = waits;
  observe();
}

// Whether it is for the memory of batches which the consumer has let go of, but the device has not, that the next one
// waits.
bool Engine::lacks_unsettled_memory() const {
  return board_.front_lacks_memory() && !board_.starved() && !unsettled_.empty();
}

void Engine::wait_for_batch(std::unique_lock<std::mutex>& lock, Deadline deadline) {
  const auto ready = [&] {
    return closing_ || interrupted_ || failure_ || board_.front_sealed() || board_.starved() ||
           lacks_unsettled_memory();
  };
  if (!ready()) {
    const WaitTimer timer(waited_ns_);
    consumer_waits_ = true;
    observe();
    if (deadline) {
      consumer_wakes_.wait_until(lock, *deadline, ready);
    } else {
      consumer_wakes_.wait(lock, ready);
    }
    consumer_waits_ = false;
    observe();
  }
  check_open();
  if (failure_) std::rethrow_exception(failure_);
  if (!board_.front_sealed() && board_.starved()) {
    if (board_.allocation_error()) std::rethrow_exception(board_.allocation_error());
    const bool of_host = board_.batch_memory().host + board_.batch_bytes().host > board_.batch_memory_max().host;
    const std::size_t bytes = of_host ? board_.batch_bytes().host : board_.batch_bytes().device;
    fail(ErrorKind::kMemory,
         "the consumer holds {} of {} and the budget of {}memory allows no more; let go of batches, or give "
         "the loader more {}memory",
         counted(board_.held(), "batch"), format_size(static_cast<double>(bytes)), of_host ? "" : "device ",
         of_host ? "" : "device ");
  }
}

// Tells of the bad samples that the batch at hand met. More than a few are no accident.
void Engine::report_bad() {
  const std::int64_t slots = batches_per_epoch_ * batch_;
  const std::int64_t most = std::max(kBadSamplesMin, slots / kBadSamplesShare);
  for (const BadSlot& bad : bad_) {
    const bool is_new = bad_samples_.emplace(bad.sample, bad.bad).second;
    if (is_new) metrics_.add(Metric::kBadSamples, 1);
    if (bad.known) continue;
    if (is_new) {
      if (bad_sample_ != BadSlotPolicy::kFail) log(LogLevel::kWarning, "bad sample: {}", bad.bad.reason);
      if (quarantine_) quarantine_->add(bad.bad);
    }
    if (bad_sample_ == BadSlotPolicy::kFail || !epoch_bad_.insert(bad.sample).second) continue;
    if (static_cast<std::int64_t>(epoch_bad_.size()) <= most) continue;
    fail(ErrorKind::kBadSample,
         "epoch {} has met {} bad samples, more than the {} that may be accidents; the last: {}{}", epoch_,
         epoch_bad_.size(), most, bad.bad.reason,
         quarantine_
             ? fmt::format("; '{}' lists them", quarantine_->path())
             : "; --quarantine FILE (in Python: quarantine=) lists them, and the next run passes over those listed");
  }
}

BatchPtr Engine::deliver(std::unique_ptr<LoaderBatch> batch) {
  BatchPtr delivered(batch.release(), [engine = shared_from_this()](LoaderBatch* back) { engine->take_back(back); });
  if (audit_) audit_->write(*delivered);
  ++delivered_;
  metrics_.add(Metric::kBatches, 1);
  metrics_.add(Metric::kSamples, delivered->valid_count());
  if (!first_delivered_) metrics_.set(Metric::kFirstBatchNs, now_ns() - first_start_ns_);
  first_delivered_ = true;
  if (progress_) progress_({epoch_, delivered_, batches_per_epoch_, metrics_.value(Metric::kSamples)});
  step_since_ns_ = now_ns();
  tell_delivered(step_since_ns_);
  return delivered;
}

void Engine::take_back(LoaderBatch* batch) noexcept {
  if (!home_.here()) {
    if (!device_ && !pinned_) delete batch;  // a GPU is out of a forked child's reach, and what is there stays there
    return;
  }
  batch->let_go();
  std::unique_ptr<LoaderBatch> owned(batch);
  std::unique_lock lock(mutex_);
  board_.release(std::move(owned));
  wake_reader_if_room();
  wake_worker();
  consumer_wakes_.notify_all();
  while (std::unique_ptr<LoaderBatch> surplus = board_.take_surplus()) {
    lock.unlock();
    surplus.reset();
    lock.lock();
  }
  observe();
}

}  // namespace stoker
