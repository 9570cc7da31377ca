#include "stoker/runtime/share/step_barrier.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <latch>
#include <thread>
#include <vector>

#include "stoker/base/error_testing.h"

namespace stoker {
namespace {

using std::chrono::milliseconds;
using ::testing::Each;
using ::testing::HasSubstr;

std::string barrier_name() {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  return fmt::format("{} {}", test->name(), ::getpid());
}

/// Ranks as threads.
void as_ranks(int world, const std::function<void(StepBarrier&, int rank)>& run) {
  std::vector<std::jthread> ranks;
  for (int rank = 0; rank < world; ++rank) {
    ranks.emplace_back([&run, rank, world, name = barrier_name()] {
      StepBarrier barrier(name, {.rank = rank, .world = world});
      run(barrier, rank);
    });
  }
}

TEST(StepBarrier, GivesAllRanksTheLatestTimeAndTheSum) {
  constexpr int kWorld = 4, kSteps = 100;
  std::vector<int> agreed(kWorld);
  as_ranks(kWorld, [&](StepBarrier& barrier, int rank) {
    for (int step = 0; step < kSteps; ++step) {
      const int slowest = step % kWorld;  // another rank is late each time
      const std::int64_t own = 1000 * step + (rank == slowest ? 500 : rank);
      if (barrier.latest(own) == 1000 * step + 500 && barrier.sum(rank + step) == 6 + kWorld * step) {
        ++agreed[static_cast<std::size_t>(rank)];
      }
    }
  });
  EXPECT_THAT(agreed, Each(kSteps));
}

TEST(StepBarrier, HoldsRanksUntilTheLastHasCome) {
  std::atomic<int> arrived = 0;
  std::vector<int> seen(3);
  as_ranks(3, [&](StepBarrier& barrier, int rank) {
    ++arrived;
    barrier.latest(0);
    seen[static_cast<std::size_t>(rank)] = arrived;
    barrier.latest(0);
  });
  EXPECT_THAT(seen, Each(3));
}

TEST(StepBarrier, ServesTheNextRunOfAJobWhileThisOneStillStands) {
  std::latch both_made(3);
  as_ranks(3, [&](StepBarrier& first, int rank) {
    StepBarrier second(barrier_name(), {.rank = rank, .world = 3});
    both_made.arrive_and_wait();
    EXPECT_EQ(first.latest(rank), 2);
    EXPECT_EQ(second.latest(10 * rank), 20);
  });
}

TEST(StepBarrier, TellsTheOthersThatARankHasEnded) {
  std::vector<std::string> said(3);
  as_ranks(3, [&](StepBarrier& barrier, int rank) {
    if (rank == 1) return;
    const Error error = error_of([&] {
      for (;;) barrier.latest(0);
    });
    EXPECT_EQ(error.kind(), ErrorKind::kClosed);
    said[static_cast<std::size_t>(rank)] = error.message();
  });
  EXPECT_THAT(said[0], HasSubstr("another rank"));
  EXPECT_THAT(said[2], HasSubstr("another rank"));
}

TEST(StepBarrier, EndsWhenItIsInterrupted) {
  as_ranks(2, [&](StepBarrier& barrier, int rank) {
    if (rank == 1) {  // waits for the other, which never calls
      const Error error = error_of([&] { barrier.latest(0); });
      EXPECT_EQ(error.kind(), ErrorKind::kClosed);
      return;
    }
    barrier.interrupt();
    EXPECT_EQ(error_of([&] { barrier.latest(0); }).message(), "stopped");
  });
}

TEST(StepBarrier, DoesNotWaitForeverForRanksThatDoNotCome) {
  const Error first = error_of([&] { StepBarrier(barrier_name(), {.rank = 0, .world = 3}, milliseconds(20)); });
  EXPECT_EQ(first.kind(), ErrorKind::kUsage);
  EXPECT_THAT(first.message(), HasSubstr("2 of 2 other ranks did not connect"));
  const Error second = error_of([&] { StepBarrier(barrier_name(), {.rank = 1, .world = 3}, milliseconds(20)); });
  EXPECT_EQ(second.kind(), ErrorKind::kUsage);
  EXPECT_THAT(second.message(), HasSubstr("rank 1 did not find rank 0"));
}

}  // namespace
}  // namespace stoker
