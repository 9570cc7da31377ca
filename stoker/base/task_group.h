// Tasks under way on an executor, and one thread that waits for all of them.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

#include "stoker/base/executor.h"

namespace stoker {

class TaskGroup {
 public:
  TaskGroup() = default;
  /// Waits for the tasks under way.
  ~TaskGroup() { wait(); }
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  /// `work` must not throw.
  void run(Executor& executor, std::function<void()> work);
  void wait();

 private:
  struct Item {
    TaskGroup* group;
    std::function<void()> work;
  };

  std::mutex mutex_;
  std::condition_variable ended_;
  std::deque<Item> items_;  // stay where they are
  int pending_ = 0;
};

}  // namespace stoker
