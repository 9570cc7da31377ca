// Makes numbered things on several threads and hands them out in order, with at most a window of them in memory.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace stoker {

class OrderedProducer {
 public:
  using Product = std::vector<std::uint8_t>;

  /// `make` is called with 0, 1, ..., count - 1, each once, from `threads` threads at once. Throws
  /// kMemory if a thread cannot be started.
  OrderedProducer(std::int64_t count, int threads, std::function<Product(std::int64_t)> make);
  /// Waits for what is being made, not for the rest.
  ~OrderedProducer();
  OrderedProducer(const OrderedProducer&) = delete;
  OrderedProducer& operator=(const OrderedProducer&) = delete;

  /// The next product, waiting for it; throws what making it threw. At most `count` calls, from one thread.
  Product next();

 private:
  struct Slot {
    bool ready = false;
    Product product;
    std::exception_ptr error;
  };

  void work(std::stop_token stop);
  Slot& slot(std::int64_t index) { return slots_[static_cast<std::size_t>(index) % slots_.size()]; }

  const std::int64_t count_;
  const std::function<Product(std::int64_t)> make_;

  std::mutex mutex_;
  std::condition_variable slot_ready_;
  std::condition_variable_any slot_free_;  // the kind that a stop request wakes
  std::vector<Slot> slots_;                // product i waits in slot i modulo their number
  std::int64_t claimed_ = 0;               // products given to a thread
  std::int64_t delivered_ = 0;             // products returned by next()
  std::vector<std::jthread> threads_;      // last: they use all of the above
};

}  // namespace stoker
