#include <gmock/gmock.h>

#include "stoker/base/error.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/runtime/board/driven_board_testing.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(ABoard, ReadsOneBatchMoreThanItHasMemoryFor) {
  DrivenBoard board(*data_.dataset, options_with(2), host_allocator());
  EXPECT_EQ(board.draw(), nullptr) << "no epoch was started";
  board.tickets.start_epoch(0);
  EXPECT_EQ(draw_all(board).size(), 3u * kBatch);
  EXPECT_THAT(take_all(board), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7)) << "the third batch waits for memory";
  EXPECT_EQ(board.tickets.ready_count(), std::size_t{kBatch});
}

TEST_F(ABoard, CountsTheSlotsThatWereMade) {
  DrivenBoard board(*data_.dataset, options_with(2), host_allocator());
  board.tickets.start_epoch(0);
  draw_all(board);
  EXPECT_EQ(board.tickets.slots_made(), 0);
  finish_all(board);
  EXPECT_EQ(board.tickets.slots_made(), 2 * kBatch);
}

TEST_F(ABoard, DrawsFurtherAheadWhereReadsAreToBePlanned) {
  BoardOptions options = options_with(1);
  options.tickets.tickets_ahead = 3 * kBatch + 1;
  DrivenBoard board(*data_.dataset, options, host_allocator());
  board.tickets.start_epoch(0);
  EXPECT_EQ(draw_all(board).size(), 4u * kBatch);
  EXPECT_EQ(take_all(board).size(), std::size_t{kBatch}) << "only one batch has memory";
  EXPECT_EQ(board.batches.memory().host, board.batches.bytes().host);

  options.locator.fields = {};
  DrivenBoard labels(*data_.dataset, options, host_allocator());
  labels.tickets.start_epoch(0);
  EXPECT_EQ(draw_all(labels).size(), 2u * kBatch) << "nothing is read, so there is nothing to plan";
}

TEST_F(ABoard, MovesItsNearEndAsSamplesAreDone) {
  BoardOptions options = options_with(1);
  options.read_ahead.near_bytes = 1000;
  DrivenBoard board(*data_.dataset, options, host_allocator());
  board.tickets.start_epoch(0);
  EXPECT_EQ(board.read_ahead.near_end(), 1000u);
  std::vector<Ticket*> drawn = draw_all(board), taken;
  const std::uint64_t each = drawn[1]->grant.place;
  EXPECT_EQ(drawn[3]->grant.place, 3 * each);
  take_all(board, &taken);
  board.tickets.finish(*taken[1]);
  EXPECT_EQ(board.read_ahead.near_end(), 1000u) << "the oldest is still there";
  board.tickets.finish(*taken[0]);
  EXPECT_EQ(board.read_ahead.near_end(), 1000 + 2 * each);
}

TEST_F(ABoard, ReadsAgainWhatMayHaveFailedForItsNeighbour) {
  DrivenBoard board(*data_.dataset, options_with(1), host_allocator());
  board.tickets.start_epoch(0);
  Ticket* first = board.draw();
  first->error = std::make_exception_ptr(Error(ErrorKind::kData, "the shard ends in the next sample"));
  first->error_shared = true;
  board.tickets.read_done(*first);
  ASSERT_EQ(board.draw(), first);
  EXPECT_EQ(first->error, nullptr);
  first->error = std::make_exception_ptr(Error(ErrorKind::kData, "the shard ends in this one"));
  board.tickets.read_done(*first);
  EXPECT_NE(board.draw(), first) << "its own error is final";
}

TEST_F(ABoard, ReportsTheErrorOfTheLowestSlotWhicheverFailedFirst) {
  for (const auto& [first, second] : {std::pair{1, 3}, std::pair{3, 1}}) {
    DrivenBoard board(*data_.dataset, options_with(1), host_allocator());
    board.tickets.start_epoch(0);
    draw_all(board);
    std::vector<Ticket*> taken;
    take_all(board, &taken);
    for (const int slot : {first, second, 0, 2}) {
      Ticket& ticket = *taken[static_cast<std::size_t>(slot)];
      if (slot % 2 == 1) ticket.error = std::make_exception_ptr(Error(ErrorKind::kBadSample, std::to_string(slot)));
      EXPECT_EQ(board.tickets.finish(ticket), slot == 2);
    }
    ASSERT_TRUE(board.tickets.front_sealed());
    try {
      board.pop();
      FAIL() << "expected an error";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "1");
    }
    EXPECT_EQ(board.batches.held(), 0) << "the failed batch's memory went back";
  }
}

TEST_F(ABoard, KnowsWhatTheNextBatchWaitsForAndWhenItWasWhere) {
  DrivenBoard board(*data_.dataset, options_with(1), host_allocator());
  EXPECT_EQ(board.tickets.front_needs(), BatchNeed::kReads) << "nothing was drawn yet";
  board.tickets.start_epoch(0);
  std::vector<Ticket*> drawn;
  for (int i = 0; i < kBatch; ++i) drawn.push_back(board.draw());
  board.grant_memory();
  for (Ticket* const ticket : drawn) {
    EXPECT_EQ(board.tickets.front_needs(), BatchNeed::kReads);
    board.tickets.read_done(*ticket);
    EXPECT_EQ(board.tickets.front_needs(), BatchNeed::kWorkers) << "there is something for them to do";
    Ticket* taken[1];
    ASSERT_EQ(board.take(taken), 1u);
  }
  EXPECT_EQ(board.tickets.front_needs(), BatchNeed::kWorkers) << "all of it is in their hands";
  for (Ticket* const ticket : drawn) board.tickets.finish(*ticket);
  const std::unique_ptr<LoaderBatch> batch = board.pop();
  EXPECT_LT(0, batch->times.drawn_ns);
  EXPECT_LE(batch->times.drawn_ns, batch->times.read_ns);
  EXPECT_LE(batch->times.read_ns, batch->times.written_ns);
  EXPECT_EQ(batch->times.sealed_ns, batch->times.written_ns);
}

TEST_F(ABoard, ForgetsWhatWasDrawnWhenAnotherEpochIsStarted) {
  BoardOptions options = options_with(2);
  options.order.kind = OrderKind::kGlobal;
  DrivenBoard board(*data_.dataset, options, host_allocator());
  board.tickets.start_epoch(0);
  for (int i = 0; i < 6; ++i) board.tickets.read_done(*board.draw());
  EXPECT_GT(board.read_ahead.used(), 0u);

  board.tickets.start_epoch(3);
  EXPECT_EQ(board.tickets.ready_count(), 0u);
  EXPECT_EQ(board.read_ahead.used(), 0u);
  draw_all(board);
  const EpochOrder order(options.order, 3);
  std::vector<std::int64_t> want;
  for (int position = 0; position < 2 * kBatch; ++position) want.push_back(*order.sample_at(position));
  EXPECT_EQ(take_all(board), want);
}

TEST_F(ABoard, ForgetsTheSampleItHadNoRoomFor) {
  BoardOptions options = options_with(2);
  options.order.kind = OrderKind::kGlobal;
  options.read_ahead.bytes = data_.dataset->row(0).image_field()->length;
  DrivenBoard board(*data_.dataset, options, host_allocator());
  board.tickets.start_epoch(0);
  board.tickets.read_done(*board.draw());
  EXPECT_EQ(board.draw(), nullptr);
  board.tickets.start_epoch(3);
  EXPECT_EQ(board.draw()->sample, EpochOrder(options.order, 3).sample_at(0));
}

TEST_F(ABoard, NeedsNoRoomForLabelsAlone) {
  BoardOptions options = options_with(2);
  options.locator.fields = {};
  DrivenBoard board(*data_.dataset, options, host_allocator());
  board.tickets.start_epoch(0);
  EXPECT_EQ(draw_all(board).size(), 3u * kBatch);
  EXPECT_EQ(board.read_ahead.used(), 0u);
}

TEST_F(ABoard, ForgetsTicketsToBeReadAgainWithTheirEpoch) {
  DrivenBoard board(*data_.dataset, options_with(1), host_allocator());
  board.tickets.start_epoch(0);
  Ticket* first = board.draw();
  first->error = std::make_exception_ptr(Error(ErrorKind::kIo, "the disk hiccups"));
  board.tickets.read_done(*first);
  board.tickets.start_epoch(1);
  EXPECT_EQ(board.read_ahead.used(), 0u);
  EXPECT_EQ(board.draw()->attempts, 1);
}

TEST_F(ABoard, WaitsForTheTicketsInUseOfAnEpochThatWasLeft) {
  DrivenBoard board(*data_.dataset, options_with(1), host_allocator());
  board.tickets.start_epoch(0);
  std::vector<Ticket*> being_read, worked_on;
  for (int i = 0; i < kBatch; ++i) being_read.push_back(board.draw());
  board.tickets.read_done(*being_read[0]);
  Ticket* taken[1];
  ASSERT_EQ(board.take(taken), 1u);

  board.tickets.start_epoch(1);
  EXPECT_GT(board.read_ahead.used(), 0u);
  EXPECT_FALSE(board.tickets.finish(*taken[0]));
  for (int i = 1; i < kBatch; ++i) board.tickets.read_done(*being_read[static_cast<std::size_t>(i)]);
  EXPECT_EQ(board.read_ahead.used(), 0u);
  EXPECT_EQ(board.tickets.ready_count(), 0u);
  draw_all(board);
  finish_all(board);
  ASSERT_TRUE(board.tickets.front_sealed());
  EXPECT_EQ(board.pop()->epoch, 1);
}

TEST_F(ABoard, KeepsTheEpochThatIsAlreadyBeingMade) {
  DrivenBoard board(*data_.dataset, options_with(2), host_allocator());
  board.tickets.start_epoch(0);
  draw_all(board);
  board.tickets.start_epoch(0);
  EXPECT_EQ(board.tickets.ready_count(), 3u * kBatch);
}

TEST_F(ABoard, GivesMemoryBackWhenPrefetchShrinks) {
  DrivenBoard board(*data_.dataset, options_with(5), host_allocator());
  board.tickets.start_epoch(0);
  draw_all(board);
  EXPECT_EQ(board.batches.memory().host, 5 * board.batches.bytes().host);
  board.tickets.set_prefetch(1);
  for (int i = 0; i < 5; ++i) {
    finish_all(board);
    ASSERT_TRUE(board.tickets.front_sealed());
    board.release(board.pop());
  }
  EXPECT_EQ(board.batches.memory().host, 3 * board.batches.bytes().host) << "one ahead, and two for the consumer";
}

TEST_F(ABoard, IsStarvedOnlyWhileTheConsumerHoldsAllMemory) {
  BoardOptions options = options_with(1);
  options.batches.memory_max.host = 2 * batch_bytes(options.batches.outputs, kBatch);
  DrivenBoard board(*data_.dataset, options, host_allocator());
  EXPECT_FALSE(board.tickets.starved());
  board.tickets.start_epoch(0);
  std::vector<std::unique_ptr<LoaderBatch>> kept;
  for (int i = 0; i < 2; ++i) {
    draw_all(board);
    finish_all(board);
    EXPECT_FALSE(board.tickets.starved());
    kept.push_back(board.pop());
  }
  draw_all(board);
  EXPECT_TRUE(board.tickets.starved());
  board.release(std::move(kept.back()));
  EXPECT_FALSE(board.tickets.starved());
}

TEST_F(ABoard, KeepsMemoryThatWasMadeReadyForAnEpochThatWasLeft) {
  DrivenBoard board(*data_.dataset, options_with(1), host_allocator());
  board.tickets.start_epoch(0);
  board.tickets.read_done(*board.draw());
  BatchGrant grant;
  ASSERT_TRUE(board.tickets.take_grant(grant));
  board.batches.prepare(grant, grant.work->slots);
  board.tickets.start_epoch(1);
  board.tickets.granted(grant);
  EXPECT_EQ(board.batches.memory().host, board.batches.bytes().host);
  draw_all(board);
  EXPECT_EQ(board.batches.memory().host, board.batches.bytes().host) << "the next epoch has it";
  EXPECT_EQ(board.tickets.workable_count(), std::size_t{kBatch});
}

TEST_F(ABoard, GivesMemoryToOneBatchAfterTheOther) {
  DrivenBoard board(*data_.dataset, options_with(3), host_allocator());
  board.tickets.start_epoch(0);
  while (Ticket* ticket = board.draw()) board.tickets.read_done(*ticket);
  BatchGrant first, second;
  ASSERT_TRUE(board.tickets.take_grant(first));
  EXPECT_EQ(first.work->index, 0);
  EXPECT_FALSE(board.tickets.take_grant(second))
      << "which would keep it from the first, were that refused what it is to get";
  board.batches.prepare(first, first.work->slots);
  board.tickets.granted(first);
  ASSERT_TRUE(board.tickets.take_grant(second));
  EXPECT_EQ(second.work->index, 1);
  board.batches.prepare(second, second.work->slots);
  board.tickets.granted(second);
  EXPECT_EQ(board.tickets.workable_count(), 2u * kBatch);
}

TEST_F(ABoard, TellsTheConsumerThatTheMachineHasNoMemoryAndAsksAgainWhenSomethingChanged) {
  DrivenBoard board(*data_.dataset, options_with(1), host_allocator());
  board.tickets.start_epoch(0);
  board.tickets.read_done(*board.draw());
  BatchGrant grant;
  ASSERT_TRUE(board.tickets.take_grant(grant));
  grant.error = std::make_exception_ptr(Error(ErrorKind::kMemory, "there is none"));
  board.tickets.granted(grant);
  EXPECT_EQ(board.batches.memory().host, 0u);
  EXPECT_FALSE(board.tickets.may_grant());
  EXPECT_TRUE(board.tickets.starved());
  EXPECT_TRUE(board.batches.error());
  board.tickets.start_epoch(1);
  draw_all(board);
  EXPECT_FALSE(board.tickets.starved());
  EXPECT_EQ(board.tickets.workable_count(), std::size_t{kBatch});
}

TEST_F(ABoard, HasNoWorkForAWorkerWhereTicketsWaitForMemory) {
  DrivenBoard board(*data_.dataset, options_with(1), host_allocator());
  board.tickets.start_epoch(0);
  EXPECT_FALSE(board.tickets.has_work());
  draw_all(board);
  EXPECT_TRUE(board.tickets.has_work());
  take_all(board);
  EXPECT_EQ(board.tickets.ready_count(), std::size_t{kBatch}) << "of the second batch";
  EXPECT_FALSE(board.tickets.has_work()) << "which has no memory as long as prefetch does not reach it";
  board.tickets.set_prefetch(2);
  EXPECT_TRUE(board.tickets.has_work()) << "now it may";
  board.grant_memory();
  EXPECT_EQ(board.tickets.workable_count(), std::size_t{kBatch});
}

TEST_F(ABoard, BatchesCrossInOrderAndOneAtATime) {
  const std::shared_ptr<Device> device = open_device("emulated:execute");
  const Plan plan(small_recipe());
  BoardOptions options = options_with(3);
  options.batches.device = {.device = device.get(), .plan = &plan};
  options.tickets.has_steps = true;
  options.batches.memory_max = {.host = SIZE_MAX / 2, .device = SIZE_MAX / 2};
  DrivenBoard board(*data_.dataset, options, host_allocator());
  board.tickets.start_epoch(0);
  draw_all(board);
  std::vector<Ticket*> taken;
  take_all(board, &taken);
  std::stable_sort(taken.begin(), taken.end(), [](Ticket* a, Ticket* b) { return a->work->index > b->work->index; });
  ASSERT_EQ(taken.size(), 3U * kBatch);
  for (std::size_t i = 0; i + 1 < taken.size(); ++i) {
    board.tickets.finish(*taken[i]);
    EXPECT_EQ(board.tickets.take_written(), nullptr) << "the first one is not complete";
  }
  board.tickets.finish(*taken.back());
  for (std::int64_t index = 0; index < 3; ++index) {
    EXPECT_FALSE(board.tickets.front_sealed() && index == 0);
    BatchWork* const work = board.tickets.take_written();
    ASSERT_TRUE(work);
    EXPECT_EQ(work->index, index);
    EXPECT_EQ(board.tickets.take_written(), nullptr) << "one at a time";
    board.tickets.steps_done(*work, nullptr);
    EXPECT_TRUE(board.tickets.front_sealed());
  }
  EXPECT_EQ(board.tickets.take_written(), nullptr);
}

}  // namespace
}  // namespace stoker
