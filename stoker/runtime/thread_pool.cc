#include "stoker/runtime/thread_pool.h"

#include <algorithm>
#include <new>
#include <utility>

#include "stoker/base/threads.h"

namespace stoker {
namespace {

thread_local bool is_of_a_pool = false;

}  // namespace

ThreadPool::ThreadPool(std::string name, int threads, int queue_max)
    : name_(std::move(name)), ring_(static_cast<std::size_t>(queue_max)) {
  threads_.reserve(static_cast<std::size_t>(threads));
  try {
    translate_thread_errors([&] {
      for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
    });
  } catch (...) {
    stop();
    throw;
  }
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  not_empty_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::submit(Task task) {
  if (!home_.here()) {
    task.run(task.context);
    return;
  }
  {
    std::unique_lock lock(mutex_);
    // Tasks end and make room because threads of pools run them: if these waited for it, all might wait for each other.
    if (is_of_a_pool && count_ == ring_.size()) grow();
    not_full_.wait(lock, [&] { return count_ < ring_.size(); });
    ring_[(first_ + count_) % ring_.size()] = task;
    ++count_;
  }
  not_empty_.notify_one();
}

/// To twice the room; it stays as it is where the machine has no memory.
void ThreadPool::grow() noexcept {
  try {
    std::vector<Task> larger(2 * ring_.size());
    std::rotate_copy(ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(first_), ring_.end(), larger.begin());
    ring_ = std::move(larger);
    first_ = 0;
  } catch (const std::bad_alloc&) {
  }
}

void ThreadPool::work() {
  name_this_thread(name_);
  is_of_a_pool = true;
  std::unique_lock lock(mutex_);
  for (;;) {
    not_empty_.wait(lock, [&] { return count_ > 0 || stopping_; });
    if (count_ == 0) return;
    const Task task = ring_[first_];
    first_ = (first_ + 1) % ring_.size();
    --count_;
    lock.unlock();
    not_full_.notify_one();
    task.run(task.context);
    lock.lock();
  }
}

}  // namespace stoker
