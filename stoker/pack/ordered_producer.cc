#include "stoker/pack/ordered_producer.h"

#include <cassert>
#include <utility>

#include "stoker/base/threads.h"

namespace stoker {

// Four products a thread: enough that a large one does not hold up the others.
constexpr int kSlotsPerThread = 4;

OrderedProducer::OrderedProducer(std::int64_t count, int threads, std::function<Product(std::int64_t)> make)
    : count_(count), make_(std::move(make)), slots_(static_cast<std::size_t>(threads) * kSlotsPerThread) {
  assert(threads > 0);
  translate_thread_errors([&] {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this](std::stop_token stop) { work(stop); });
  });
}

OrderedProducer::~OrderedProducer() {
  // All are told before the first is waited for.
  for (std::jthread& thread : threads_) thread.request_stop();
}

void OrderedProducer::work(std::stop_token stop) {
  const auto window = static_cast<std::int64_t>(slots_.size());
  std::unique_lock lock(mutex_);
  for (;;) {
    slot_free_.wait(lock, stop, [&] { return claimed_ == count_ || claimed_ < delivered_ + window; });
    if (stop.stop_requested() || claimed_ == count_) return;
    const std::int64_t index = claimed_++;
    lock.unlock();
    Slot made{.ready = true, .product = {}, .error = nullptr};
    try {
      made.product = make_(index);
    } catch (...) {
      made.error = std::current_exception();
    }
    lock.lock();
    slot(index) = std::move(made);
    slot_ready_.notify_one();
  }
}

OrderedProducer::Product OrderedProducer::next() {
  std::unique_lock lock(mutex_);
  assert(delivered_ < count_);
  Slot& due = slot(delivered_);
  slot_ready_.wait(lock, [&] { return due.ready; });
  Slot taken = std::exchange(due, Slot());
  ++delivered_;
  slot_free_.notify_one();
  if (taken.error) std::rethrow_exception(taken.error);
  return std::move(taken.product);
}

}  // namespace stoker
