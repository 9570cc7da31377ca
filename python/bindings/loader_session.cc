#include "python/bindings/loader_session.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "python/bindings/interpreter_lock.h"
#include "python/bindings/interruptible.h"
#include "python/bindings/log.h"
#include "stoker/base/error.h"

namespace nb = nanobind;

namespace stoker::python {
namespace {

// All that were started, and are perhaps still there.
struct Sessions {
  std::mutex mutex;
  std::vector<std::weak_ptr<LoaderSession>> all;
};

Sessions& sessions() {
  static auto* sessions = new Sessions;
  return *sessions;
}

}  // namespace

LoaderSession::LoaderSession(std::shared_ptr<const Dataset> dataset, Recipe recipe, LoaderOptions options)
    : loader_(std::make_unique<Loader>(std::move(dataset), std::move(recipe), std::move(options))) {}

std::shared_ptr<LoaderSession> LoaderSession::start(std::shared_ptr<const Dataset> dataset, Recipe recipe,
                                                    LoaderOptions options) {
  follow_log_level();
  std::shared_ptr<LoaderSession> session;
  run_unless_interrupted([&](const std::stop_token&) {
    session.reset(new LoaderSession(std::move(dataset), std::move(recipe), std::move(options)));
  });
  const std::lock_guard lock(sessions().mutex);
  std::erase_if(sessions().all, [](const auto& other) { return other.expired(); });
  sessions().all.push_back(session);
  return session;
}

LoaderSession::~LoaderSession() {
  if (PyGILState_Check() == 0) return;
  const Unlocked unlocked;
  loader_.reset();
}

template <typename Work>
auto LoaderSession::as_consumer(Work work) {
  struct Counted {
    std::atomic<int>& count;
    explicit Counted(std::atomic<int>& threads) : count(threads) { ++count; }
    ~Counted() { --count; }
  };
  const Counted counted(consumers_);
  for (;;) {
    deliver_log();
    if (!home_.here()) {
      if (auto result = work()) return *std::move(result);  // or rather, throws that the loader is closed here
    }
    {
      const Unlocked unlocked;
      const std::unique_lock lock(consumer_, kPatience);
      if (lock) {
        if (auto result = work()) return *std::move(result);
      }
    }
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
}

std::int64_t LoaderSession::start_epoch(std::int64_t epoch) {
  follow_log_level();
  return as_consumer([&]() -> std::optional<std::int64_t> {
    if (untouched_ != epoch) loader_->start_epoch(epoch);
    untouched_ = next_epoch_ = epoch;
    turn_ended_ = false;
    on_request_ = false;
    return ++turn_;
  });
}

void LoaderSession::request(const LoaderPosition& batch) {
  loader_->check_request(batch);  // before the epoch that runs is ended for it
  if (!on_request_) {
    as_consumer([&]() -> std::optional<bool> {
      if (on_request_) return true;  // by another thread
      loader_->start_requests();
      untouched_ = -1;
      ++turn_;  // iterators of the epoch that ran are at their end
      on_request_ = true;
      return true;
    });
  }
  const Unlocked unlocked;
  loader_->request(batch);
}

/// Takes what the consumer has waited for, without giving up the interpreter lock between its look at signals and the
/// end: an exception of their handlers would take the place of a batch that counts as delivered.
std::optional<BatchPtr> LoaderSession::take_awaited(const std::function<bool()>& is_mine) {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  const std::unique_lock lock(consumer_, std::try_to_lock);
  if (!lock || !is_mine()) return std::nullopt;
  return loader_->next_within(std::chrono::milliseconds(0));
}

BatchPtr LoaderSession::take(std::optional<std::chrono::milliseconds> patience) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = patience ? Clock::now() + *patience : Clock::time_point::max();
  for (;;) {
    const bool is_there = as_consumer([&]() -> std::optional<bool> {
      if (!on_request_) fail(ErrorKind::kUsage, "no batch was requested: request(epoch, index) comes before take()");
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
      if (loader_->wait_within(std::clamp(left, std::chrono::milliseconds(0), kPatience))) return true;
      return Clock::now() >= end ? std::optional(false) : std::nullopt;
    });
    if (!is_there) return {};
    if (std::optional<BatchPtr> batch = take_awaited([&] { return on_request_.load(); })) return *std::move(batch);
  }
}

LoaderPosition LoaderSession::position() {
  return as_consumer([&] { return std::optional(loader_->position()); });
}

std::string LoaderSession::state() {
  return as_consumer([&] { return std::optional(loader_->state()); });
}

std::vector<BadSample> LoaderSession::bad_samples() {
  return as_consumer([&] { return std::optional(loader_->bad_samples()); });
}

std::vector<MetBadSample> LoaderSession::bad_in_batch() {
  return as_consumer([&] { return std::optional(loader_->bad_in_batch()); });
}

void LoaderSession::load_state(const std::string& json) {
  next_epoch_ = as_consumer([&] {
    loader_->load_state(json);
    untouched_ = -1;
    on_request_ = false;
    ++turn_;  // iterators of the epoch that ran are at their end
    return std::optional(loader_->next_epoch());
  });
}

LoaderSession::Taken LoaderSession::next(std::int64_t turn) {
  for (;;) {
    const bool has_ended = as_consumer([&]() -> std::optional<bool> {
      if (turn != turn_) {
        fail(
            ErrorKind::kUsage,
            "this iterator's epoch has ended: another epoch was started, a state was loaded, or a batch was requested");
      }
      if (untouched_ >= 0) next_epoch_ = std::exchange(untouched_, -1) + 1;
      if (turn_ended_) return true;
      return loader_->wait_within(kPatience) ? std::optional(false) : std::nullopt;
    });
    if (has_ended) return {};
    if (std::optional<BatchPtr> batch = take_awaited([&] { return turn == turn_ && !turn_ended_; })) {
      turn_ended_ = !*batch;
      return {*std::move(batch), loader_->replays()};
    }
  }
}

void LoaderSession::set(const Knobs& knobs) {
  const Unlocked unlocked;
  loader_->set(knobs);
}

Metrics LoaderSession::metrics() const {
  const Unlocked unlocked;
  return loader_->metrics();
}

LoaderReport LoaderSession::report(std::optional<std::int64_t> epoch) const {
  const Unlocked unlocked;
  return epoch ? loader_->report(*epoch) : loader_->report();
}

void LoaderSession::headspace(int steps) {
  as_consumer([&] {
    loader_->headspace(steps);
    return std::optional(true);
  });
}

void LoaderSession::close() {
  if (!home_.here()) return;
  {
    const Unlocked unlocked;
    loader_->interrupt();
    const std::lock_guard lock(consumer_);
    loader_->close();
  }
  deliver_log();
}

void LoaderSession::close_all() {
  std::vector<std::weak_ptr<LoaderSession>> all;
  {
    const std::lock_guard lock(sessions().mutex);
    all.swap(sessions().all);
  }
  for (const std::weak_ptr<LoaderSession>& weak : all) {
    const std::shared_ptr<LoaderSession> session = weak.lock();
    if (!session || !session->home_.here()) continue;
    session->close();
    while (session->consumers_ > 0) {
      const Unlocked unlocked;
      std::this_thread::yield();
    }
  }
}

}  // namespace stoker::python
