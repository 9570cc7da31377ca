#include "stoker/runtime/engine/worker_crew.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

constexpr std::int64_t kMicrosecond = 1000, kMillisecond = 1000 * kMicrosecond;

/// A crew at hand, whose tickets have taken so long for some time.
WorkerCrew crew_of(int workers, std::int64_t ticket_ns) {
  WorkerCrew crew;
  for (int i = 0; i < workers; ++i) crew.comes();
  for (int i = 0; i < 500; ++i) crew.worked(1, ticket_ns);
  return crew;
}

TEST(AWorkerCrew, TakesEachTicketForAnExpensiveOneAtFirst) {
  const WorkerCrew crew;
  EXPECT_EQ(crew.grain(), 0U);
  EXPECT_EQ(crew.share(1, 1), 1U);
}

TEST(AWorkerCrew, TakesAPartOfItsEqualShareOfExpensiveTickets) {
  const WorkerCrew crew = crew_of(2, 2 * kMillisecond);
  EXPECT_EQ(crew.share(1, 2), 1U);
  EXPECT_EQ(crew.share(16, 2), 2U);
  EXPECT_EQ(crew.share(1000, 2), 4U);
  EXPECT_EQ(crew.few(), 4U);
}

TEST(AWorkerCrew, TakesSeveralCheapTicketsHoweverFewWait) {
  const WorkerCrew crew = crew_of(16, 24 * kMicrosecond);
  EXPECT_EQ(crew.grain(), 8U);  // 200 us
  EXPECT_EQ(crew.share(10, 16), 8U);
  EXPECT_EQ(crew.share(768, 16), 12U);
  EXPECT_EQ(crew.share(10000, 16), 32U);
  EXPECT_EQ(crew.few(), 8U);
}

TEST(AWorkerCrew, TakesNoMoreThanThereIsRoomForHoweverCheapTicketsAre) {
  const WorkerCrew crew = crew_of(1, 0);
  EXPECT_EQ(crew.share(1'000'000, 1), WorkerCrew::kTicketsMax);
}

TEST(AWorkerCrew, LearnsTheCostOfTicketsFromWhatSeveralTookTogether) {
  WorkerCrew crew = crew_of(1, 2 * kMillisecond);
  for (int i = 0; i < 500; ++i) crew.worked(10, 480 * kMicrosecond);
  EXPECT_EQ(crew.grain(), 4U);
}

TEST(AWorkerCrew, IsNotCalledWhileNoneSleeps) {
  WorkerCrew crew = crew_of(2, kMillisecond);
  EXPECT_FALSE(crew.call(100, true));
}

TEST(AWorkerCrew, IsCalledForASingleExpensiveTicket) {
  WorkerCrew crew = crew_of(2, kMillisecond);
  WorkerBed bed;
  crew.falls_asleep(bed);
  EXPECT_FALSE(crew.call(0, false));
  EXPECT_FALSE(bed.called);
  EXPECT_EQ(crew.call(1, false), &bed);
  EXPECT_TRUE(bed.called);
}

TEST(AWorkerCrew, IsCalledForMoreCheapTicketsThanThoseAtHandTakeNext) {
  WorkerCrew crew = crew_of(3, 24 * kMicrosecond);
  WorkerBed bed;
  crew.falls_asleep(bed);
  EXPECT_FALSE(crew.call(16, false));
  EXPECT_TRUE(crew.call(17, false));
}

TEST(AWorkerCrew, IsCalledForASingleCheapTicketThatNoOneAtHandTakes) {
  WorkerCrew crew = crew_of(2, 24 * kMicrosecond);
  WorkerBed bed;
  crew.falls_asleep(bed);
  EXPECT_FALSE(crew.call(1, false));
  crew.goes();
  EXPECT_TRUE(crew.call(1, false)) << "the other is in a batch's step, or waits for memory";
}

TEST(AWorkerCrew, CallsTheWorkerThatFellAsleepLast) {
  WorkerCrew crew = crew_of(3, kMillisecond);
  WorkerBed beds[2];
  for (WorkerBed& bed : beds) crew.falls_asleep(bed);
  EXPECT_EQ(crew.call(100, false), &beds[1]);
  EXPECT_EQ(crew.call(100, false), &beds[0]);
  EXPECT_FALSE(crew.call(100, false));
}

TEST(AWorkerCrew, LeavesTicketsToThoseThatWereCalled) {
  for (const std::int64_t ticket_ns : {kMillisecond, 24 * kMicrosecond}) {
    WorkerCrew crew = crew_of(2, ticket_ns);
    const std::size_t each = crew.share(1, 2);
    WorkerBed beds[2];
    for (WorkerBed& bed : beds) crew.falls_asleep(bed);
    EXPECT_TRUE(crew.call(1, false));
    EXPECT_FALSE(crew.call(each, false));
    EXPECT_TRUE(crew.call(each + 1, false));
  }
}

TEST(AWorkerCrew, IsCalledOnceForOtherWork) {
  WorkerCrew crew = crew_of(3, 24 * kMicrosecond);
  WorkerBed beds[2];
  for (WorkerBed& bed : beds) crew.falls_asleep(bed);
  EXPECT_TRUE(crew.call(0, true));
  EXPECT_FALSE(crew.call(0, true)) << "the first has not woken up";
  crew.wakes_up();
  EXPECT_TRUE(crew.call(0, true)) << "it may have found tickets";
}

}  // namespace
}  // namespace stoker
