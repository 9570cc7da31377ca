// An executor with real threads, for tests of code that must work on several at once.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "stoker/base/executor.h"

namespace stoker {

class ThreadExecutor final : public Executor {
 public:
  explicit ThreadExecutor(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this](std::stop_token stop) { work(stop); });
  }

  void submit(Task task) override {
    std::lock_guard lock(mutex_);
    tasks_.push_back(task);
    changed_.notify_one();
  }

 private:
  void work(std::stop_token stop) {
    for (;;) {
      Task task;
      {
        std::unique_lock lock(mutex_);
        if (!changed_.wait(lock, stop, [this] { return !tasks_.empty(); })) return;
        task = tasks_.front();
        tasks_.pop_front();
      }
      task.run(task.context);
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Task> tasks_;
  std::vector<std::jthread> threads_;  // last: joined before the rest is destroyed
};

}  // namespace stoker
