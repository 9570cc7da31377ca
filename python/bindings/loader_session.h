// A loader driven from Python: it waits without the interpreter lock, stays open to Ctrl-C, and never joins its threads
// while it holds that lock. Shared by the Python objects Loader and EpochIterator. The interpreter lock must be held
// when calling any method; in a Python without one, any threads may call at once. In a forked child it is as inert as
// the loader: a lock that another thread held at that moment stays locked there.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "stoker/base/home_process.h"
#include "stoker/runtime/loader.h"
#include "stoker/runtime/metrics.h"
#include "stoker/runtime/report/loader_report.h"

namespace stoker::python {

class LoaderSession {
 public:
  static std::shared_ptr<LoaderSession> start(std::shared_ptr<const Dataset> dataset, Recipe recipe,
                                              LoaderOptions options);
  /// May run with or without the interpreter lock.
  ~LoaderSession();

  const Loader& loader() const { return *loader_; }

  /// Starts an epoch and returns the number of that turn: iterators of earlier ones have ended. One of which no batch
  /// was asked for goes on where it began: frameworks make iterators that they do not use.
  std::int64_t start_epoch(std::int64_t epoch);
  /// The epoch after the one of which batches were asked for last, or where a state that was loaded since stands.
  std::int64_t next_epoch() const { return next_epoch_; }
  struct Taken {
    BatchPtr batch;
    bool again = false;  // it is one that was taken before (Loader::headspace)
  };
  /// The next batch of the turn, or null once it has ended. Throws kUsage if another turn has begun.
  Taken next(std::int64_t turn);

  /// The first one ends the epoch that runs. Further ones may be made while another thread waits in take().
  void request(const LoaderPosition& batch);
  /// The batch that was requested first and not taken yet; null after `patience`. Throws kUsage before the first
  /// request.
  BatchPtr take(std::optional<std::chrono::milliseconds> patience);

  LoaderPosition position();
  std::string state();
  std::vector<BadSample> bad_samples();
  std::vector<MetBadSample> bad_in_batch();
  void load_state(const std::string& json);

  void set(const Knobs& knobs);
  Metrics metrics() const;
  /// Of all, or of one epoch.
  LoaderReport report(std::optional<std::int64_t> epoch) const;
  void headspace(int steps);
  /// A thread that waits for a batch is woken and gets an Error of kind closed.
  void close();

  /// Closes all that are left, before the interpreter ends, and waits for the threads that took batches from them: each
  /// of them learns that its loader is closed.
  static void close_all();

 private:
  // How long a wait lasts before Python's signals are looked at.
  static constexpr std::chrono::milliseconds kPatience{50};

  LoaderSession(std::shared_ptr<const Dataset> dataset, Recipe recipe, LoaderOptions options);

  // Runs `work()` as the only consumer, without the interpreter lock, again and again until it returns a value.
  template <typename Work>
  auto as_consumer(Work work);
  // Nothing where another thread was faster, or has moved the loader on.
  std::optional<BatchPtr> take_awaited(const std::function<bool()>& is_mine);

  const HomeProcess home_;
  std::unique_ptr<Loader> loader_;
  std::timed_mutex consumer_;  // one thread at a time may be the consumer; taken without the interpreter lock
  std::int64_t turn_ = 0;      // guarded by consumer_
  bool turn_ended_ = false;    // guarded by consumer_
  std::atomic<bool> on_request_ = false;      // changed by the consumer
  std::atomic<std::int64_t> next_epoch_ = 0;  // the same
  std::int64_t untouched_ = -1;     // the epoch that runs, if no batch of it was asked for; guarded by consumer_
  std::atomic<int> consumers_ = 0;  // threads in as_consumer()
};

}  // namespace stoker::python
