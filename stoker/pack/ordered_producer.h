// Makes items on several threads and delivers them in order, with at most a window of them in memory.
#pragma once

#include <cassert>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/threads.h"

namespace stoker {

/// Products of tasks: the i-th product is made from the i-th task.
template <typename Task, typename Product>
class OrderedProducer {
 public:
  using Claim = std::function<std::optional<Task>(const std::stop_token& stop)>;
  using Make = std::function<Product(Task)>;

  /// `claim` gives the next task, nullopt after the last or when asked to stop; it is called by one thread at a time,
  /// and must not wait for anything but products to be taken, or for `stop`. `make_maker` is called once on each of
  /// `threads` threads, for what it makes products with. Throws kMemory if a thread cannot be started.
  OrderedProducer(int threads, Claim claim, std::function<Make()> make_maker)
      : claim_(std::move(claim)),
        make_maker_(std::move(make_maker)),
        slots_(static_cast<std::size_t>(threads) * kSlotsPerThread) {
    assert(threads > 0);
    translate_thread_errors([&] {
      for (int i = 0; i < threads; ++i) threads_.emplace_back([this](std::stop_token stop) { work(stop); });
    });
  }
  /// Waits for what is being made, not for the rest.
  ~OrderedProducer() {
    // All are told before the first is waited for.
    for (std::jthread& thread : threads_) thread.request_stop();
  }
  OrderedProducer(const OrderedProducer&) = delete;
  OrderedProducer& operator=(const OrderedProducer&) = delete;

  /// The next product, waiting for it; nullopt after the last. Throws what claiming its task or making it threw; there
  /// is nothing after a claim that threw. From one thread.
  std::optional<Product> next() {
    std::unique_lock lock(mutex_);
    Slot& due = slot(delivered_);
    slot_ready_.wait(lock, [&] { return due.ready || (exhausted_ && delivered_ == claimed_); });
    if (!due.ready) return std::nullopt;
    Slot taken = std::exchange(due, Slot());
    ++delivered_;
    slot_free_.notify_one();
    if (taken.error) std::rethrow_exception(taken.error);
    return std::move(taken.product);
  }

 private:
  // Four products a thread: enough that a large one does not hold up the others.
  static constexpr int kSlotsPerThread = 4;

  struct Slot {
    bool ready = false;
    std::optional<Product> product;
    std::exception_ptr error;
  };

  void work(const std::stop_token& stop) {
    Make make;
    const auto window = static_cast<std::int64_t>(slots_.size());
    std::unique_lock lock(mutex_);
    for (;;) {
      slot_free_.wait(lock, stop, [&] { return exhausted_ || (!claiming_ && claimed_ < delivered_ + window); });
      if (stop.stop_requested() || exhausted_) return;
      // A claim may read; meanwhile others finish what they make.
      claiming_ = true;
      lock.unlock();
      Slot made{.ready = true, .product = {}, .error = nullptr};
      std::optional<Task> task;
      made.error = thrown_by([&] { task = claim_(stop); });
      lock.lock();
      claiming_ = false;
      if (!task) exhausted_ = true;
      const std::int64_t index = claimed_;
      if (task || made.error) ++claimed_;
      slot_free_.notify_all();
      if (!task && !made.error) {
        slot_ready_.notify_one();
        return;
      }
      lock.unlock();
      if (task) {
        made.error = thrown_by([&] {
          if (!make) make = make_maker_();
          made.product = make(std::move(*task));
        });
      }
      lock.lock();
      slot(index) = std::move(made);
      slot_ready_.notify_one();
    }
  }
  Slot& slot(std::int64_t index) { return slots_[static_cast<std::size_t>(index) % slots_.size()]; }

  const Claim claim_;
  const std::function<Make()> make_maker_;

  std::mutex mutex_;
  std::condition_variable slot_ready_;
  std::condition_variable_any slot_free_;  // the kind that a stop request wakes
  std::vector<Slot> slots_;                // product i waits in slot i modulo their number
  bool claiming_ = false;
  bool exhausted_ = false;             // there are no more tasks
  std::int64_t claimed_ = 0;           // tasks given to a thread
  std::int64_t delivered_ = 0;         // products returned by next()
  std::vector<std::jthread> threads_;  // last: they use all of the above
};

}  // namespace stoker
