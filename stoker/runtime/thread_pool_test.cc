#include "stoker/runtime/thread_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <string>
#include <vector>

#include "stoker/base/child_testing.h"
#include "stoker/base/error.h"
#include "stoker/base/rounds_testing.h"

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

TEST(ThreadPool, LetsItsOwnTasksSubmitWhateverRoomThereIs) {
  struct Work {
    ThreadPool* pool;
    std::vector<int> order{};
    std::latch ended{9};
  };
  struct Part {
    Work* work;
    int number;
  };
  ThreadPool pool("test", 1, 2);
  Work work{&pool};
  std::vector<Part> parts;
  for (int i = 0; i < 9; ++i) parts.push_back({&work, i});
  const auto note = [](void* part) noexcept {
    auto& [made, number] = *static_cast<Part*>(part);
    made->order.push_back(number);
    made->ended.count_down();
  };
  struct All {
    std::vector<Part>* parts;
    void (*note)(void*) noexcept;
  } all{&parts, note};
  pool.submit({[](void* context) noexcept {
                 const All& of = *static_cast<All*>(context);
                 for (Part& part : *of.parts) part.work->pool->submit({of.note, &part});
               },
               &all});
  work.ended.wait();
  EXPECT_THAT(work.order, ::testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8));
}

TEST(ThreadPool, RunsTasksAtTheSameTime) {
  std::latch together(3);  // passes only when three tasks wait in it at once
  ThreadPool pool("test", 3, 8);
  for (int i = 0; i < 3; ++i)
    pool.submit({[](void* latch) noexcept { static_cast<std::latch*>(latch)->arrive_and_wait(); }, &together});
  together.wait();
}

TEST(ThreadPool, RunsTasksOnTheCallersThreadInAForkedChild) {
  if (!kChildrenOfThreadsWork) GTEST_SKIP() << "a forked child of several threads may hang";
  auto pool = std::make_unique<ThreadPool>("test", 2, 8);
  EXPECT_EQ(status_in_child([&] {
              int ran = 0;
              pool->submit({[](void* count) noexcept { ++*static_cast<int*>(count); }, &ran});
              return ran == 1 ? 0 : 1;
            }),
            0);
}

TEST(ThreadPool, EndsTheThreadsItCouldStartWhenOneIsRefused) {
  if (kSanitized) GTEST_SKIP() << "sanitizers do not survive it";
  EXPECT_EQ(status_in_child([] {
              limit_memory(40 << 20);  // room for a few stacks of 8 MiB
              try {
                const ThreadPool pool("test", 100, 8);
                return 2;
              } catch (const Error& error) {
                return error.kind() == ErrorKind::kMemory ? 0 : 3;
              }
            }),
            0);
}

}  // namespace
}  // namespace stoker
