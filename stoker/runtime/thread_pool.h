// Threads that run small tasks in order of submission, with a bounded queue.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "stoker/base/executor.h"
#include "stoker/base/home_process.h"

namespace stoker {

class ThreadPool final : public Executor {
 public:
  /// `name` shows in debuggers and `top`; `queue_max` tasks may wait, and more that tasks of pools submit. Throws
  /// kMemory if a thread cannot be started.
  ThreadPool(std::string name, int threads, int queue_max);
  /// Runs what was submitted, then joins.
  ~ThreadPool() override;

  /// In a forked child, which has no threads of ours, the task runs at once on the caller's.
  void submit(Task task) override;

 private:
  void work();
  void stop();
  void grow() noexcept;

  const HomeProcess home_;

  std::string name_;
  std::mutex mutex_;
  std::condition_variable not_empty_, not_full_;
  std::vector<Task> ring_;
  std::size_t first_ = 0, count_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace stoker
