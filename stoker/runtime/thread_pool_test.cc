#include "stoker/runtime/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>

namespace stoker {
namespace {

TEST(ThreadPool, RunsEveryTaskBeforeItEnds) {
  std::atomic<int> ran{0};
  {
    ThreadPool pool("test", 3, 2);  // the queue is much shorter than the work
    for (int i = 0; i < 1000; ++i)
      pool.submit({[](void* count) noexcept { ++*static_cast<std::atomic<int>*>(count); }, &ran});
  }
  EXPECT_EQ(ran, 1000);
}

TEST(ThreadPool, RunsTasksAtTheSameTime) {
  std::latch together(3);  // passes only when three tasks wait in it at once
  ThreadPool pool("test", 3, 8);
  for (int i = 0; i < 3; ++i)
    pool.submit({[](void* latch) noexcept { static_cast<std::latch*>(latch)->arrive_and_wait(); }, &together});
  together.wait();
}

}  // namespace
}  // namespace stoker
