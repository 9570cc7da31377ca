#include "stoker/runtime/board/ticket_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace stoker {
namespace {

using testing::ElementsAre;

// The samples of the next batch; nothing where there is none.
std::vector<std::int64_t> next_batch(TicketOrder& order, BatchWork& work) {
  std::vector<std::int64_t> samples;
  if (!order.has_next()) return samples;
  work.drawn = work.passed_over = 0;
  order.next(work);
  for (int slot = 0; slot < work.slots; ++slot) samples.push_back(order.draw(work).sample);
  return samples;
}

class Drawing : public testing::Test {
 protected:
  Drawing() { work_.tickets.resize(2); }
  BatchWork work_;
};

TEST_F(Drawing, GoesOnFromBatchToBatchAndIntoTheNextEpoch) {
  TicketOrder order({.samples = 4, .global_batch = 2, .kind = OrderKind::kNone}, {.batch = 2}, 2);
  EXPECT_TRUE(order.at_end());
  EXPECT_FALSE(order.has_next()) << "no epoch was started";
  EXPECT_EQ(order.batches_per_epoch(), 2);
  order.start(0, 1);
  EXPECT_THAT(next_batch(order, work_), ElementsAre(2, 3));
  EXPECT_EQ(work_.unfinished, 2);
  EXPECT_THAT(next_batch(order, work_), ElementsAre(0, 1));
  EXPECT_EQ(work_.epoch, 1);
  EXPECT_EQ(work_.index, 0);
  EXPECT_EQ(work_.remaining, 2);
  EXPECT_THAT(next_batch(order, work_), ElementsAre(2, 3));
  EXPECT_THAT(next_batch(order, work_), ElementsAre()) << "there are two epochs";
  EXPECT_TRUE(order.at_end());
  order.start(1, 1);
  EXPECT_THAT(next_batch(order, work_), ElementsAre(2, 3));
}

TEST_F(Drawing, GivesTheBatchesThatAreRequested) {
  TicketOrder order({.samples = 4, .global_batch = 2, .kind = OrderKind::kNone}, {.batch = 2}, 2);
  order.start(0, 0);
  EXPECT_THAT(next_batch(order, work_), ElementsAre(0, 1));
  EXPECT_FALSE(order.on_request());
  order.start_requests();
  EXPECT_TRUE(order.on_request());
  EXPECT_TRUE(order.at_end());
  EXPECT_THAT(next_batch(order, work_), ElementsAre()) << "nothing is requested";
  for (const auto& [epoch, batch] : {std::pair(1, 1), {0, 1}, {0, 0}, {0, 0}, {1, 1}}) order.request(epoch, batch);
  EXPECT_FALSE(order.at_end());
  for (const std::int64_t epoch : {1, 0, 0, 0, 1}) {
    ASSERT_TRUE(order.has_next());
    ASSERT_TRUE(order.has_next()) << "as often as it is asked";
    const std::vector<std::int64_t> samples = next_batch(order, work_);
    EXPECT_EQ(work_.epoch, epoch);
    EXPECT_EQ(samples.front(), 2 * work_.index);
  }
  EXPECT_THAT(next_batch(order, work_), ElementsAre());
  order.request(0, 1);
  order.start_requests();
  EXPECT_FALSE(order.has_next()) << "what was requested before is forgotten";
  order.request(0, 1);
  order.start(1, 0);
  EXPECT_FALSE(order.on_request());
  EXPECT_THAT(next_batch(order, work_), ElementsAre(0, 1));
  EXPECT_EQ(work_.epoch, 1);
}

TEST_F(Drawing, TellsWhichSamplesAreOfAWindowThatReadingBeganIn) {
  const auto shards = std::make_shared<const std::vector<std::int64_t>>(1, 16);
  TicketOrder order({.samples = 16,
                     .global_batch = 2,
                     .kind = OrderKind::kWindowed,
                     .window = 4,
                     .lanes = 1,
                     .shard_samples = shards},
                    {.batch = 2}, 2);
  const auto early_batches = [&] {
    std::vector<bool> early;
    while (!next_batch(order, work_).empty()) early.push_back(work_.tickets[0].early);
    return early;
  };
  // A window is two batches, an epoch four windows.
  order.start(0, 3);
  EXPECT_THAT(early_batches(), ElementsAre(true, false, false, false, false,  // from within a window
                                           true, true, false, false, false, false, false, false));
}

TEST_F(Drawing, PadsTheTailOrKeepsIt) {
  const RankSlice second{.rank = 1, .world = 2, .batch = 2};
  TicketOrder padded({.samples = 7, .global_batch = 4, .kind = OrderKind::kNone, .tail = Tail::kPad}, second, 1);
  padded.start(0, 1);
  EXPECT_THAT(next_batch(padded, work_), ElementsAre(6, -1));
  TicketOrder kept({.samples = 7, .global_batch = 4, .kind = OrderKind::kNone, .tail = Tail::kKeep}, second, 1);
  kept.start(0, 1);
  EXPECT_EQ(next_batch(kept, work_).size(), 1U);
}

}  // namespace
}  // namespace stoker
