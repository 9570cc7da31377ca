#include "stoker/pack/work_turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "stoker/base/error_testing.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

constexpr JobMemory kMemory{.kept = 10, .shared = 100, .oldest = 300};

class WorkTurnsOf : public ::testing::Test {
 protected:
  std::unique_ptr<WorkTurns::Turn> next() { return turns_.next(stop_.get_token()); }

  std::stop_source stop_;
  WorkTurns turns_{kMemory, 2};
};

TEST_F(WorkTurnsOf, AskNothingForWhatThreadsMayKeep) {
  const auto turn = next();
  turn->enter(10);
  EXPECT_FALSE(turn->is_large());
  EXPECT_EQ(turns_.most(), 0u);
}

TEST_F(WorkTurnsOf, GiveTheOldestWhateverOthersHold) {
  const auto oldest = next(), other = next();
  other->enter(100);
  oldest->enter(300);  // or this test never ends
  EXPECT_TRUE(oldest->is_large());
  EXPECT_EQ(turns_.most(), 400u);
}

TEST_F(WorkTurnsOf, LetOthersWaitForRoomOrForBeingTheOldest) {
  for (const bool oldest_ends : {false, true}) {
    auto oldest = next();
    const auto second = next(), third = next();
    second->enter(60);
    std::promise<void> begins;
    std::jthread waiting([&] {
      begins.set_value();
      third->enter(50);
    });
    begins.get_future().wait();
    EXPECT_LE(turns_.most(), oldest_ends ? 110u : 60u);
    if (oldest_ends) {
      oldest.reset();
      second->enter(300);  // as the oldest now
      second->leave(0);
    } else {
      second->leave(20);
    }
    waiting.join();
    EXPECT_EQ(third->has(), 50u);
  }
}

TEST_F(WorkTurnsOf, KeepWhatWasMadeUntilTheTurnEnds) {
  const auto oldest = next();
  auto second = next();
  second->enter(80);
  second->leave(60);
  const auto third = next();
  {
    std::jthread asks([&] { EXPECT_EQ(error_of([&] { third->enter(41); }).kind(), ErrorKind::kClosed); });
    stop_.request_stop();
  }
  second.reset();
  const auto fourth = turns_.next({});
  fourth->enter(100);
  EXPECT_TRUE(fourth->is_large());
}

TEST_F(WorkTurnsOf, RefuseWhatTheBudgetNeverHoldsAndSayWhichDoes) {
  const auto turn = next();
  const Error error = error_of([&] { turn->enter(301); });
  EXPECT_EQ(error.kind(), ErrorKind::kMemory);
  EXPECT_THAT(error.what(), HasSubstr("(--memory) of " + job_memory_for(0, 301, 2) + " is enough"));
}

}  // namespace
}  // namespace stoker
