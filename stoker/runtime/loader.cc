#include "stoker/runtime/loader.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/home_process.h"
#include "stoker/runtime/engine/engine.h"
#include "stoker/runtime/engine/replay.h"
#include "stoker/runtime/resolved_options.h"
#include "stoker/runtime/tuning/tuned_engine.h"

namespace stoker {

namespace {

/// None for what is further off than the clock goes.
Consumer::Deadline deadline_after(std::chrono::milliseconds patience) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point now = Clock::now();
  const auto most = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::time_point::max() - now);
  if (patience >= most) return std::nullopt;
  return now + std::max(patience, std::chrono::milliseconds(0));
}

}  // namespace

/// An engine, and what tunes it, if anything does. Made by make_shared_at_home(): a forked child does not destroy it.
class Loader::Running {
 public:
  Running(std::shared_ptr<const Dataset> dataset, Recipe recipe, const ResolvedOptions& options)
      : batch_(options.batch), engine_(make_shared_at_home<Engine>(std::move(dataset), std::move(recipe), options)) {
    tuned_ = tune(*engine_, options);
    engine_->start_threads();
    if (tuned_) tuned_->tuning().start();
  }

  Engine& engine() { return *engine_; }
  int batch_size() const { return batch_; }
  bool tunes() const { return tuned_ != nullptr; }
  TuningLog tuning() const {
    engine_->check_home();
    return tuned_ ? tuned_->tuning().log() : TuningLog();
  }

  void set(const Knobs& knobs) {
    engine_->check_open();
    const std::lock_guard lock(mutex_);
    engine_->set(knobs);
    if (tuned_) tuned_->tuning().fix(knobs);
  }

  std::optional<BatchPtr> next(Consumer::Deadline deadline) {
    if (replay_.running()) {
      engine_->check_open();
      engine_->consumer().pause();
      replays_ = true;
      if (BatchPtr again = replay_.again(now_ns())) return again;
      engine_->consumer().tell_headspace(summary_of(replay_.step_times()));
    }
    replays_ = false;
    std::optional<BatchPtr> batch = engine_->next(deadline);
    if (batch && *batch) replay_.delivered(*batch);
    return batch;
  }
  bool wait(Consumer::Deadline deadline) { return replay_.running() || engine_->wait(deadline); }
  Replay& replay() { return replay_; }
  bool replays() const { return replays_; }

  void close() {
    if (!home_.here()) return;
    if (tuned_) tuned_->tuning().stop();
    engine_->close();
  }

 private:
  const HomeProcess home_;
  const int batch_;
  const std::shared_ptr<Engine> engine_;  // batches that the consumer holds share it
  std::unique_ptr<TunedEngine> tuned_;
  Replay replay_;
  bool replays_ = false;  // what was returned last was a batch again
  std::mutex mutex_;      // one set() at a time
};

Loader::Loader(std::shared_ptr<const Dataset> dataset, Recipe recipe, LoaderOptions options) {
  const ResolvedOptions resolved = resolve_options(*dataset, recipe, options);
  running_ = make_shared_at_home<Running>(std::move(dataset), std::move(recipe), resolved);
}

// Batches that the consumer still holds keep the engine's memory alive, but not its threads.
Loader::~Loader() {
  if (running_) running_->close();
}

const Dataset& Loader::dataset() const { return running_->engine().dataset(); }
const Recipe& Loader::recipe() const { return running_->engine().plan().recipe(); }
std::vector<OutputSpec> Loader::outputs() const { return running_->engine().plan().outputs(); }
std::int64_t Loader::batches_per_epoch() const { return running_->engine().consumer().batches_per_epoch(); }
std::int64_t Loader::global_batches() const { return running_->engine().consumer().global_batches(); }
int Loader::batch_size() const { return running_->batch_size(); }
const RankSlice& Loader::slice() const { return running_->engine().consumer().slice(); }

void Loader::start_epoch(std::int64_t epoch) {
  ++turn_;
  running_->engine().consumer().start_epoch(epoch);
  running_->replay().stop();
}

void Loader::start_requests() {
  ++turn_;
  running_->engine().consumer().start_requests();
  running_->replay().stop();
}

void Loader::check_request(const LoaderPosition& batch) const { running_->engine().consumer().check_request(batch); }
void Loader::request(const LoaderPosition& batch) { running_->engine().consumer().request(batch); }

std::int64_t Loader::next_epoch() const { return running_->engine().consumer().next_epoch(); }
LoaderPosition Loader::position() const { return running_->engine().consumer().position(); }
std::string Loader::state() const { return running_->engine().consumer().state(); }
LoaderPosition Loader::load_state(std::string_view json) {
  running_->engine().check_open();
  ++turn_;
  const LoaderPosition position = running_->engine().consumer().load_state(json);
  running_->replay().stop();
  return position;
}

std::vector<BadSample> Loader::bad_samples() const { return running_->engine().consumer().bad_samples(); }
std::vector<MetBadSample> Loader::bad_in_batch() const { return running_->engine().consumer().bad_in_batch(); }

BatchPtr Loader::next() { return *running_->next(std::nullopt); }

std::optional<BatchPtr> Loader::next_within(std::chrono::milliseconds patience) {
  return running_->next(deadline_after(patience));
}

bool Loader::wait_within(std::chrono::milliseconds patience) { return running_->wait(deadline_after(patience)); }

Loader::Epoch Loader::epoch(std::int64_t epoch) {
  start_epoch(epoch);
  return {this, turn_};
}

BatchPtr Loader::next_of(std::int64_t turn) {
  if (turn == turn_) return next();
  fail(ErrorKind::kUsage,
       "this iterator's epoch has ended: another epoch was started, a state was loaded, or a batch was requested");
}

void Loader::set(const Knobs& knobs) { running_->set(knobs); }
Metrics Loader::metrics() const { return running_->engine().metrics(); }
LoaderReport Loader::report() const { return running_->engine().reports().since_beginning(); }
LoaderReport Loader::report(std::int64_t epoch) const { return running_->engine().reports().of(epoch); }
void Loader::headspace(int steps) {
  running_->engine().check_open();
  running_->replay().ask(steps);
}
bool Loader::replays() const { return running_->replays(); }
std::optional<DiskCacheCounters> Loader::disk_cache() const { return running_->engine().disk_cache(); }
std::string Loader::metrics_address() const { return running_->engine().metrics_address(); }
std::string Loader::dashboard_address() const { return running_->engine().dashboard_address(); }
int Loader::threads() const { return running_->engine().knobs().threads; }
int Loader::prefetch() const { return running_->engine().knobs().prefetch; }
int Loader::transfer_index() const { return running_->engine().knobs().transfer_index; }
int Loader::io_depth() const { return running_->engine().knobs().io_depth; }
bool Loader::tunes() const { return running_->tunes(); }
TuningLog Loader::tuning() const { return running_->tuning(); }
void Loader::interrupt() { running_->engine().interrupt(); }
void Loader::close() { running_->close(); }
bool Loader::lost_trace() const { return running_->engine().lost_trace(); }

std::uint64_t device_memory_bytes_min(const Dataset& dataset, const Recipe& recipe, const LoaderOptions& options) {
  return least_device_memory(dataset, Plan(recipe), resolve_sizes(dataset, recipe, options));
}

std::uint64_t memory_bytes_min(const Dataset& dataset, const Recipe& recipe, const LoaderOptions& options) {
  return least_memory(dataset, Plan(recipe), resolve_sizes(dataset, recipe, options)).total();
}

std::uint64_t memory_bytes_enough(const Dataset& dataset, const Recipe& recipe, const LoaderOptions& options) {
  const Plan plan(recipe);
  return memory_for(dataset, plan, resolve_sizes(dataset, recipe, options),
                    largest_needs(dataset, plan, options.limits));
}

}  // namespace stoker
