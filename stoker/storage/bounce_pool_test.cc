#include "stoker/storage/bounce_pool.h"

#include <gtest/gtest.h>

#include <vector>

namespace stoker {
namespace {

struct Borrower {
  Borrower(BouncePool& from, std::vector<int>& told, int which) : pool(&from), log(&told), number(which) {
    loan.context = this;
    loan.resume = [](Waiter& waiter) noexcept {
      auto& self = *static_cast<Borrower*>(waiter.context);
      self.log->push_back(self.number);
      if (self.gives_back) self.pool->release(self.loan);
    };
  }

  BouncePool* pool;
  std::vector<int>* log;
  int number;
  bool gives_back = false;
  BouncePool::Loan loan;
};

TEST(BouncePool, LendsAlignedBuffersAndThenLetsWait) {
  BouncePool pool(2);
  std::vector<int> log;
  Borrower a(pool, log, 0), b(pool, log, 1), c(pool, log, 2);
  ASSERT_TRUE(pool.acquire(a.loan));
  ASSERT_TRUE(pool.acquire(b.loan));
  EXPECT_NE(a.loan.buffer.data(), b.loan.buffer.data());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.loan.buffer.data()) % BouncePool::kAlignment, 0u);
  EXPECT_EQ(a.loan.buffer.size(), BouncePool::kBufferBytes);
  EXPECT_FALSE(pool.acquire(c.loan));
  EXPECT_TRUE(log.empty());
  const std::uint8_t* const passed_on = a.loan.buffer.data();
  pool.release(a.loan);
  EXPECT_EQ(log, (std::vector<int>{2}));
  EXPECT_EQ(c.loan.buffer.data(), passed_on);
  EXPECT_TRUE(a.loan.buffer.empty());
}

TEST(BouncePool, ServesThoseWhoWaitInTurnHoweverManyThereAre) {
  constexpr int kBorrowers = 100'000;  // deep enough to overflow a stack if one were resumed inside another
  BouncePool pool(1);
  std::vector<int> log, in_turn;
  std::vector<Borrower> borrowers;
  borrowers.reserve(kBorrowers);
  for (int i = 0; i < kBorrowers; ++i) {
    borrowers.emplace_back(pool, log, i).gives_back = true;
    borrowers.back().loan.context = &borrowers.back();
    EXPECT_EQ(pool.acquire(borrowers.back().loan), i == 0);
    if (i > 0) in_turn.push_back(i);
  }
  pool.release(borrowers[0].loan);
  EXPECT_EQ(log, in_turn);
  EXPECT_TRUE(pool.acquire(borrowers[0].loan)) << "the last gave it back";
}

}  // namespace
}  // namespace stoker
