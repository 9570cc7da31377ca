#include "stoker/base/stop_scope.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "stoker/base/side_by_side.h"

namespace stoker {
namespace {

/// Each task on a thread of its own.
class TaskThreads final : public Executor {
 public:
  void submit(Task task) override {
    threads_.emplace_back([task] { task.run(task.context); });
  }

 private:
  std::vector<std::jthread> threads_;
};

TEST(StopScope, EndsWithItselfAndIsTheThreadsOwn) {
  std::stop_source outer, inner;
  EXPECT_FALSE(StopScope::current().stop_possible());
  {
    const StopScope scope(outer.get_token());
    {
      const StopScope within(inner.get_token());
      inner.request_stop();
      EXPECT_TRUE(StopScope::current().stop_requested());
      std::jthread([] { EXPECT_FALSE(StopScope::current().stop_possible()); });
    }
    EXPECT_TRUE(StopScope::current().stop_possible());
    EXPECT_FALSE(StopScope::current().stop_requested());
  }
  EXPECT_FALSE(StopScope::current().stop_possible());
}

TEST(StopScope, GoesAlongToThreadsThatWorkForThisOne) {
  TaskThreads threads;
  std::stop_source stop;
  stop.request_stop();
  const StopScope scope(stop.get_token());
  std::atomic<int> stopped = 0;
  run_side_by_side(threads, {0, 1, 2}, [&](std::size_t) { stopped += StopScope::current().stop_requested() ? 1 : 0; });
  EXPECT_EQ(stopped, 3);
}

}  // namespace
}  // namespace stoker
