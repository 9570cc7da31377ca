#include "stoker/runtime/engine/scratch_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "stoker/base/error_testing.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;

TEST(ScratchBudget, IsHalfForWhatWorkersKeepAndHalfForLargeImages) {
  const ScratchBudget budget(64 * kMebibyte, 8);
  EXPECT_EQ(budget.allowance(), 4 * kMebibyte);
  EXPECT_EQ(budget.most(), 32 * kMebibyte);
  EXPECT_EQ(ScratchBudget(18 * kMebibyte, 2).allowance(), 9 * kMebibyte / 2);
  EXPECT_EQ(ScratchBudget(80 * kMebibyte, 64).allowance(), kMebibyte) << "never less";
  EXPECT_EQ(ScratchBudget(80 * kMebibyte, 64).most(), 16 * kMebibyte);
  EXPECT_EQ(ScratchBudget(4096 * kMebibyte, 2).allowance(), 32 * kMebibyte) << "what is kept is kept for ever";
}

TEST(ScratchBudget, IsSharedAnewAmongMoreThreadsOrFewer) {
  ScratchBudget budget(64 * kMebibyte, 2);
  EXPECT_EQ(budget.allowance(), 16 * kMebibyte);
  budget.set_threads(8);
  EXPECT_EQ(budget.allowance(), 4 * kMebibyte);
  budget.set_threads(1);
  EXPECT_EQ(budget.allowance(), 32 * kMebibyte);
  EXPECT_EQ(error_of([&] { budget.set_threads(33); }).kind(), ErrorKind::kMemory);
  EXPECT_EQ(ScratchBudget(1024 * kMebibyte, 1, 8).most(), 768 * kMebibyte) << "for threads that may come later";
  EXPECT_EQ(ScratchBudget(20 * kMebibyte, 1, 64).most(), 10 * kMebibyte) << "but not more than half";
}

TEST(ScratchGate, DropsWhatIsTooMuchForMoreThreads) {
  ScratchBudget budget(64 * kMebibyte, 2);
  ScratchGate gate(budget);
  gate.enter(10 * kMebibyte);
  EXPECT_FALSE(gate.must_drop());
  budget.set_threads(8);
  EXPECT_TRUE(gate.must_drop());
  EXPECT_EQ(gate.has(), 10 * kMebibyte);
  gate.leave();
  gate.enter(budget.allowance() + 1);
  budget.set_threads(1);
  EXPECT_TRUE(gate.must_drop()) << "what was granted is released";
  gate.leave();
  EXPECT_FALSE(gate.must_drop());
}

TEST(ScratchGate, LetsSmallImagesPass) {
  ScratchBudget budget(80 * kMebibyte, 2);
  ScratchGate gate(budget), other(budget);
  gate.enter(budget.allowance());
  EXPECT_FALSE(gate.must_drop());
  gate.enter(budget.most());
  EXPECT_TRUE(gate.must_drop());
  other.enter(budget.allowance());  // does not wait
  gate.leave();
  EXPECT_FALSE(gate.must_drop());
}

TEST(ScratchGate, LetsLargeImagesPassAsFarAsTheyFit) {
  ScratchBudget budget(60 * kMebibyte, 10);
  const std::uint64_t large = budget.most() / 2;
  ASSERT_GT(large, budget.allowance());
  std::atomic<int> inside = 0, most = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&] {
      ScratchGate gate(budget);
      for (int round = 0; round < 200; ++round) {
        gate.enter(large);
        const int now = ++inside;
        for (int before = most; before < now && !most.compare_exchange_weak(before, now);) {
        }
        std::this_thread::yield();
        --inside;
        gate.leave();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(most, 2);
}

TEST(ScratchGate, RefusesWhatCanNeverFit) {
  ScratchBudget budget(40 * kMebibyte, 2);
  ScratchGate gate(budget);
  const Error error = error_of([&] { gate.enter(budget.most() + 1); });
  EXPECT_EQ(error.kind(), ErrorKind::kMemory);
  EXPECT_THAT(error.message(), HasSubstr("the memory budget leaves"));
  EXPECT_FALSE(gate.must_drop());
}

TEST(ScratchGate, DoesNotWaitInALoaderThatCloses) {
  ScratchBudget budget(40 * kMebibyte, 2);
  ScratchGate holder(budget);
  holder.enter(budget.most());
  std::thread waiting([&] {
    ScratchGate gate(budget);
    EXPECT_EQ(error_of([&] { gate.enter(budget.most()); }).kind(), ErrorKind::kClosed);
  });
  budget.close();
  waiting.join();
  holder.leave();
}

}  // namespace
}  // namespace stoker
