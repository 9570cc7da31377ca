#include "stoker/storage/run_in_turn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace stoker {
namespace {

struct Step {
  std::string name;
  const void* owner;
  std::vector<Step*> starts{};  // what it does
  Step* next = nullptr;
};

void start(Step& step, std::vector<std::string>& log) {
  run_in_turn(step.owner, IntrusiveQueue<Step>(step), [&](Step& now) {
    log.push_back(now.name + " begins");
    for (Step* started : now.starts) start(*started, log);
    log.push_back(now.name + " ends");
  });
}

TEST(RunInTurn, LeavesWhatAnElementStartsForItsOwnerUntilItHasEnded) {
  int owner = 0;
  Step c{"c", &owner}, b{"b", &owner, {&c}}, d{"d", &owner}, a{"a", &owner, {&b, &d}};
  std::vector<std::string> log;
  start(a, log);
  EXPECT_THAT(log, testing::ElementsAre("a begins", "a ends", "b begins", "b ends", "d begins", "d ends", "c begins",
                                        "c ends"));
}

TEST(RunInTurn, DoesWhatAnotherOwnerStartsAtOnceButNotTwiceWithinEachOther) {
  int one = 0, other = 0;
  Step c{"c", &one}, b{"b", &other, {&c}}, a{"a", &one, {&b}};
  std::vector<std::string> log;
  start(a, log);
  EXPECT_THAT(log, testing::ElementsAre("a begins", "b begins", "b ends", "a ends", "c begins", "c ends"));
}

TEST(RunInTurn, EndsWithItsLastElement) {
  int owner = 0;
  std::vector<std::string> log;
  for (int round = 0; round < 2; ++round) {
    Step a{"a", &owner};
    start(a, log);
  }
  IntrusiveQueue<Step> none;
  EXPECT_FALSE(leave_to_turn(&owner, none));
  EXPECT_EQ(log.size(), 4U);
}

}  // namespace
}  // namespace stoker
