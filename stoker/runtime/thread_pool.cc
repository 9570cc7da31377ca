#include "stoker/runtime/thread_pool.h"

#include "stoker/base/threads.h"

namespace stoker {

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
    not_full_.wait(lock, [&] { return count_ < ring_.size(); });
    ring_[(first_ + count_) % ring_.size()] = task;
    ++count_;
  }
  not_empty_.notify_one();
}

void ThreadPool::work() {
  name_this_thread(name_);
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
