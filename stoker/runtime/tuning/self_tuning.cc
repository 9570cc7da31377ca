#include "stoker/runtime/tuning/self_tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>
#include <string_view>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/log.h"
#include "stoker/base/threads.h"
#include "stoker/base/topology.h"
#include "stoker/base/units.h"
#include "stoker/runtime/tuning/tuned_stages.h"

namespace stoker {
namespace {

constexpr int kBatchesBetween = 2;  // under way when knobs are turned, besides those made ahead
constexpr std::chrono::seconds kBeat(5);
constexpr std::int64_t kSettledLonger = 2;  // windows are this much longer once the search has ended
constexpr std::size_t kMovesMax = 4096;
constexpr double kStarved = 0.01;  // of the time that the consumer waits

// Without memory for the sentence nothing is logged.
void log_quietly(std::string_view why) noexcept {
  try {
    log(LogLevel::kWarning, "the knobs are no longer tuned: {}", why);
  } catch (const std::bad_alloc&) {
  }
}

}  // namespace

SelfTuning::SelfTuning(TunedLoader& loader, SelfTuningOptions options)
    : loader_(loader),
      options_(std::move(options)),
      kept_(options_.cache_folder, options_.key),
      workload_(options_.workload),
      share_(options_.cores.empty() ? allowed_cores() : options_.cores, options_.share),
      most_threads_(threads_max(workload_.cores)),
      limits_(options_.limits),
      window_(workload_.batch) {
  log_.title = options_.title;
}

void SelfTuning::start() {
  const std::lock_guard lock(thread_mutex_);
  translate_thread_errors([&] { thread_ = std::thread([this] { run(); }); });
}

void SelfTuning::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    wakes_.notify_all();
  }
  if (thread_id_ == std::this_thread::get_id()) return;
  const std::lock_guard thread_lock(thread_mutex_);
  if (thread_.joinable()) thread_.join();
}

bool SelfTuning::stopping() const {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

void SelfTuning::delivered(const BatchPeriod& period) noexcept {
  const std::lock_guard lock(mutex_);
  if (++deliveries_ == 1) wakes_.notify_all();
  if (!open_) return;
  try {
    if (!add(period)) return;
  } catch (const std::bad_alloc&) {  // training continues, and so does tuning
    return window_.begin(1, window_limits_);
  }
  open_ = false;
  wakes_.notify_all();
}

// Returns whether the period completes the window.
bool SelfTuning::add(const BatchPeriod& period) {
  const bool counted = window_.counts();
  window_.add(period);
  if (!window_.counts()) return false;
  if (!counted) begin_ = loader_.metrics();
  if (!window_.complete()) return false;
  end_ = loader_.metrics();
  return true;
}

void SelfTuning::fix(const Knobs& knobs) {
  const std::lock_guard lock(mutex_);
  limits_.fixed.take(knobs);
  limits_changed_ = true;
  wakes_.notify_all();
}

TuningLog SelfTuning::log() const {
  const std::lock_guard lock(mutex_);
  return log_;
}

void SelfTuning::run() noexcept {
  thread_id_ = std::this_thread::get_id();
  try {
    run_on(options_.cores);
    name_this_thread("stoker-tune");
    began_ns_ = now_ns();
    tune();
  } catch (...) {
    if (!stopping()) tell_end(std::current_exception());
  }
}

// The knobs keep their values: that is worse than tuned knobs, but not a reason to stop training.
void SelfTuning::tell_end(const std::exception_ptr& why) noexcept {
  try {
    std::rethrow_exception(why);
  } catch (const Error& error) {
    log_quietly(error.message());
  } catch (const std::exception& error) {
    log_quietly(error.what());
  }
}

// Measures costs first, if an index is to be chosen; then one window after another. When the user fixes another knob, a
// new tuner begins at the old one's setting.
void SelfTuning::tune() {
  begin();
  if (!wait_for_first_batch()) return;
  std::optional<Tuner> tuner;
  for (int skip = kBatchesBetween;;) {
    if (!tuner || limits_changed()) {
      if (!find_costs()) return;
      make_tuner(tuner);
    }
    limit_threads(*tuner);
    const KnobSetting before = loader_.knobs();
    loader_.turn(tuner->knobs());
    if (options_.once && tuner->settled()) return rest(*tuner);
    if (before != loader_.knobs()) skip = before.prefetch + kBatchesBetween;
    const std::optional<Window> window = next_window(std::exchange(skip, 1), &*tuner);
    if (stopping()) return;
    if (window) learn(*window, *tuner);  // else the user has fixed something
  }
}

// There is nothing more to tune, but other loaders must know what this one uses.
void SelfTuning::rest(const Tuner& tuner) {
  std::unique_lock lock(mutex_);
  for (std::int64_t seen = deliveries_; !wakes_.wait_for(lock, kBeat, [&] { return stopping_; });) {
    if (std::exchange(seen, deliveries_) == deliveries_) continue;
    lock.unlock();
    share_.update(wanted_threads(&tuner));
    lock.lock();
  }
}

// The kept knobs are used immediately, since their worth shows soon; but never more threads than the fair share.
void SelfTuning::begin() {
  find_share(nullptr);
  start_ = kept_.load();
  const KnobSetting now = loader_.knobs();
  if (!start_) {
    KnobSetting fair = now;
    fair.threads = std::min(fair.threads, most_threads_);
    loader_.turn(fair);
    return;
  }
  start_->threads = std::clamp(start_->threads, 1, most_threads_);
  const bool is_index = start_->transfer_index >= 0 && start_->transfer_index <= kTransferIndexMax;
  if (options_.limits.fixed.transfer_index || !is_index) start_->transfer_index = now.transfer_index;
  if (start_->prefetch < 1 || !options_.limits.fits(start_->transfer_index, start_->prefetch))
    start_->prefetch = now.prefetch;
  if (start_->io_depth < 1 || start_->io_depth > workload_.io_depth_max) start_->io_depth = now.io_depth;
  loader_.turn(*start_);
}

double SelfTuning::at_s() const { return static_cast<double>(now_ns() - began_ns_) * 1e-9; }

bool SelfTuning::wait_for_first_batch() {
  std::unique_lock lock(mutex_);
  wakes_.wait(lock, [&] { return stopping_ || deliveries_ > 0; });
  return !stopping_;
}

// Measures costs with a few samples if there is an index to choose; else with a window at the only one. False if the
// loader is closed.
bool SelfTuning::find_costs() {
  if (costs_ == Costs::kOfAll || (costs_ == Costs::kOfOne && costs_index_ == loader_.knobs().transfer_index))
    return true;
  if (!fixed_index()) {
    if (const auto crossings = loader_.calibrate([this] { return stopping(); })) {
      set_costs(*crossings, workload_);
      costs_ = Costs::kOfAll;
      return true;
    }
    const int index = loader_.knobs().transfer_index;
    const std::lock_guard lock(mutex_);
    limits_.fixed.transfer_index = index;
  }
  std::optional<Window> window;
  while (!window) {
    take_limits();  // there is no tuner yet that would have others
    window = next_window(loader_.knobs().prefetch + kBatchesBetween, nullptr);
    if (stopping()) return false;
  }
  costs_index_ = window->knobs.transfer_index;
  set_costs(window->metrics, window->made, costs_index_, workload_);
  costs_ = Costs::kOfOne;
  return true;
}

bool SelfTuning::fixed_index() const {
  const std::lock_guard lock(mutex_);
  return limits_.fixed.transfer_index.has_value();
}

bool SelfTuning::limits_changed() const {
  const std::lock_guard lock(mutex_);
  return limits_changed_;
}

TunerLimits SelfTuning::take_limits() {
  const std::lock_guard lock(mutex_);
  limits_changed_ = false;
  return limits_;
}

void SelfTuning::make_tuner(std::optional<Tuner>& tuner) {
  find_share(tuner ? &*tuner : nullptr);
  TunerOptions options{.limits = take_limits(), .once = options_.once};
  options.limits.threads_max = most_threads_;  // it says with how many it begins
  if (tuner) {
    options.start = loader_.knobs();
    options.start_is = "the user has fixed some knobs";
  } else if (start_) {
    options.start = start_;
    options.start_is = "the best when this was last run on this machine";
  }
  tuner.emplace(workload_, std::move(options));
  const TuningMove first{.at_s = at_s(), .knobs = loader_.knobs(), .next = tuner->knobs(), .why = tuner->why()};
  stoker::log(LogLevel::kInfo, "tuner: {}", first.why);
  if (options_.moved) options_.moved(first);
  const std::lock_guard lock(mutex_);
  if (!log_.moves.empty()) return;
  log_.workload = workload_;
  log_.first = tuner->knobs();
  log_.first_why = tuner->why();
}

// Limits the threads to the fair share among the loaders of this host.
void SelfTuning::find_share(const Tuner* tuner) {
  share_.update(wanted_threads(tuner));
  most_threads_ = std::min(share_.most(), threads_max(workload_.cores));
  tell_share();
}

void SelfTuning::limit_threads(Tuner& tuner) {
  find_share(&tuner);
  tuner.limit_threads(most_threads_);
}

// Explains in the log why there are fewer threads than cores.
void SelfTuning::tell_share() {
  {
    const std::lock_guard lock(mutex_);
    if (limits_.fixed.threads) return;
  }
  const int others = share_.others();
  if (others == told_others_ && (others == 0 || most_threads_ == told_threads_)) return;
  told_others_ = others;
  told_threads_ = most_threads_;
  const std::string threads = counted(most_threads_, "thread");
  const std::string why =
      others == 0 ? fmt::format("no other loader uses these cores any more: this one may use {}", threads)
                  : fmt::format("{} of this host {} the same {}: this one may use {}", counted(others, "other loader"),
                                others == 1 ? "uses" : "use", counted(workload_.cores, "core"), threads);
  stoker::log(LogLevel::kInfo, "{}", why);
  const KnobSetting knobs = loader_.knobs();
  if (options_.moved) options_.moved({.at_s = at_s(), .knobs = knobs, .next = knobs, .why = why});
}

// The threads that it would use alone; 0: not known, or all.
int SelfTuning::wanted_threads(const Tuner* tuner) const {
  {
    const std::lock_guard lock(mutex_);
    if (limits_.fixed.threads) return *limits_.fixed.threads;
  }
  if (!tuner || !tuner->settled()) return 0;
  const int threads = tuner->knobs().threads;
  return wait_share_ > kStarved && threads >= most_threads_ ? 0 : threads;
}

// Unset if the loader is closed, or the user has fixed something meanwhile.
std::optional<SelfTuning::Window> SelfTuning::next_window(int skip, const Tuner* tuner) {
  const KnobSetting knobs = loader_.knobs();
  std::unique_lock lock(mutex_);
  window_limits_ = options_.window;
  if (tuner && tuner->settled()) window_limits_.seconds_least_ns *= kSettledLonger;
  window_.begin(skip, window_limits_);
  open_ = true;
  while (open_ && !stopping_ && !limits_changed_) {
    const std::int64_t deliveries = deliveries_;
    const bool in_time = wakes_.wait_for(lock, kBeat, [&] { return !open_ || stopping_ || limits_changed_; });
    if (in_time || deliveries == deliveries_) continue;
    // The window is long, but the loader is working: other loaders must know.
    lock.unlock();
    share_.update(wanted_threads(tuner));
    lock.lock();
  }
  if (std::exchange(open_, false)) return std::nullopt;
  return Window{.knobs = knobs,
                .metrics = MetricsWindow(*begin_, *end_),
                .result = window_.result(),
                .made = static_cast<double>(std::max<std::int64_t>(window_.made(), 1)),
                .delivered = static_cast<double>(window_.delivered()) * workload_.batch};
}

TunerWindow SelfTuning::tuner_window(const Window& window) const {
  const TuningWindow::Result& result = window.result;
  TunerWindow told{.samples = std::llround(result.samples),
                   .seconds = result.seconds,
                   .wait_s = result.wait_s,
                   .step_s = result.step_s,
                   .stages = busy_stages(window.metrics, window.knobs.transfer_index, workload_)};
  // Stages worked on the samples made in the window, not on those delivered.
  for (TunerWindow::Stage& stage : told.stages) {
    stage.seconds *= result.samples / (stage.side == StageSide::kCpu ? window.made : window.delivered);
  }
  return told;
}

void SelfTuning::learn(const Window& window, Tuner& tuner) {
  TuningMove move{.at_s = at_s(), .knobs = window.knobs, .window = tuner_window(window)};
  wait_share_ = move.window.wait_s / move.window.seconds;
  const std::string why_before = tuner.why();
  tuner.see(move.window);
  move.next = tuner.knobs();
  move.why = tuner.why();
  move.settled_on = tuner.settled_on();
  const bool is_news = move.why != why_before;
  if (is_news) stoker::log(LogLevel::kInfo, "tuner: {}", move.why);
  if (move.settled_on && kept_knobs_ != move.settled_on) {
    kept_.save(*move.settled_on);
    kept_knobs_ = move.settled_on;
  }
  keep(move);
  if (is_news && options_.moved) options_.moved(move);
}

void SelfTuning::keep(const TuningMove& move) {
  const std::lock_guard lock(mutex_);
  if (log_.moves.size() == kMovesMax) {
    const auto quiet = std::find_if(log_.moves.begin(), log_.moves.end(),
                                    [](const TuningMove& past) { return past.settled_on && past.next == past.knobs; });
    log_.moves.erase(quiet == log_.moves.end() ? log_.moves.begin() : quiet);
    ++log_.left_out;
  }
  log_.moves.push_back(move);
}

}  // namespace stoker
