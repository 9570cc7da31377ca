// What is done to a batch besides writing its slots: which samples are mixed with each other, when functions are
// called, and when the batch is complete.
#include <gmock/gmock.h>

#include <exception>

#include "stoker/base/error.h"
#include "stoker/runtime/board/driven_board_testing.h"

namespace stoker {
namespace {

using testing::ElementsAre;

TEST_F(ABoard, HasBlocksMixedAsTheyAreWrittenAndBatchesCompleteWhenAllAreMixed) {
  BoardOptions options = options_with(1);
  options.tickets.mix_block = 2;
  DrivenBoard board(*data_.dataset, options, host_allocator());
  const std::vector<Ticket*> taken = take_epoch(board, 0);
  ASSERT_EQ(taken.size(), std::size_t{kBatch});
  BatchTask first, second;
  EXPECT_FALSE(board.tickets.finish(*taken[3], &second));
  EXPECT_EQ(second.work, nullptr);
  EXPECT_FALSE(board.tickets.finish(*taken[0], &first));
  EXPECT_EQ(first.work, nullptr) << "slots 0 and 3 are of different blocks";
  EXPECT_FALSE(board.tickets.finish(*taken[2], &second));
  EXPECT_FALSE(board.tickets.finish(*taken[1], &first)) << "all slots are written, but not mixed";
  EXPECT_EQ(second.work, first.work);
  EXPECT_EQ(std::pair(second.first, second.count), std::pair(2, 2));
  EXPECT_EQ(std::pair(first.first, first.count), std::pair(0, 2));
  EXPECT_FALSE(board.tickets.front_sealed());
  EXPECT_FALSE(board.tickets.done(first));
  EXPECT_FALSE(board.tickets.front_sealed());
  EXPECT_TRUE(board.tickets.done(second));
  ASSERT_TRUE(board.tickets.front_sealed());
  EXPECT_EQ(board.pop()->epoch, 0);
}

TEST_F(ABoard, MixesAShorterBatchAsAWhole) {
  BoardOptions options = options_with(6);
  options.order.samples = kBatch + 3;
  options.order.tail = Tail::kKeep;
  options.tickets.mix_block = 2;
  DrivenBoard board(*data_.dataset, options, host_allocator());
  const std::vector<Ticket*> taken = take_epoch(board, 0);
  std::vector<std::pair<int, int>> blocks;
  for (Ticket* ticket : taken) {
    if (ticket->work->epoch > 0) continue;
    BatchTask block;
    board.tickets.finish(*ticket, &block);
    if (!block.work) continue;
    blocks.emplace_back(block.first, block.count);
    board.tickets.done(block);
  }
  EXPECT_THAT(blocks, ElementsAre(std::pair(0, 2), std::pair(2, 2), std::pair(0, 3)));
  EXPECT_EQ(board.tickets.sealed_count(), 2);
}

TEST_F(ABoard, WaitsForABlockThatIsMixedForAnEpochThatWasLeft) {
  BoardOptions options = options_with(1);
  options.tickets.mix_block = kBatch;
  DrivenBoard board(*data_.dataset, options, host_allocator());
  const std::vector<Ticket*> taken = take_epoch(board, 0);
  BatchTask block;
  for (Ticket* ticket : taken) board.tickets.finish(*ticket, &block);
  ASSERT_TRUE(block.work);
  board.tickets.start_epoch(1);
  draw_all(board);
  EXPECT_EQ(board.batches.memory().host, 2 * board.batches.bytes().host) << "that of the block is still in use";
  EXPECT_FALSE(board.tickets.done(block)) << "it is not wanted any more";
  finish_all_mixed(board);
  EXPECT_EQ(board.pop()->epoch, 1);
}

TEST_F(ABoard, HasFunctionsCalledOnceForABatchThatIsWrittenAndMixed) {
  BoardOptions options = options_with(1);
  options.tickets.mix_block = kBatch;
  options.tickets.has_calls = true;
  DrivenBoard board(*data_.dataset, options, host_allocator());
  const std::vector<Ticket*> taken = take_epoch(board, 0);
  BatchTask task;
  for (Ticket* ticket : taken) {
    EXPECT_EQ(task.work, nullptr);
    EXPECT_FALSE(board.tickets.finish(*ticket, &task));
  }
  ASSERT_TRUE(task.work);
  EXPECT_EQ(task.kind, BatchTask::Kind::kMix);
  EXPECT_FALSE(board.tickets.done(task));
  ASSERT_TRUE(task.work);
  EXPECT_EQ(task.kind, BatchTask::Kind::kCall);
  EXPECT_EQ(task.count, kBatch);
  EXPECT_FALSE(board.tickets.front_sealed());
  EXPECT_TRUE(board.tickets.done(task));
  EXPECT_EQ(task.work, nullptr);
  ASSERT_TRUE(board.tickets.front_sealed());
  EXPECT_EQ(board.pop()->epoch, 0);
}

TEST_F(ABoard, TellsWhatWentWrongInAFunctionWithItsBatch) {
  BoardOptions options = options_with(1);
  options.tickets.has_calls = true;
  DrivenBoard board(*data_.dataset, options, host_allocator());
  const std::vector<Ticket*> taken = take_epoch(board, 0);
  BatchTask task;
  for (Ticket* ticket : taken) board.tickets.finish(*ticket, &task);
  ASSERT_TRUE(task.work);
  EXPECT_TRUE(board.tickets.done(task, std::make_exception_ptr(Error(ErrorKind::kData, "it raised"))));
  ASSERT_TRUE(board.tickets.front_sealed());
  EXPECT_THROW(board.pop(), Error);
}

}  // namespace
}  // namespace stoker
