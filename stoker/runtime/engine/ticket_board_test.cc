// The board driven by hand: no threads, so every order of events can be had.
#include "stoker/runtime/engine/ticket_board.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/error.h"
#include "stoker/format/open/sharded_dataset.h"
#include "stoker/plan/plan.h"
#include "stoker/runtime/loader_testing.h"
#include "stoker/storage/memory_source_testing.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kBatch = 4, kSamples = 20;

BoardOptions options_with(int prefetch) {
  BoardOptions options;
  options.order = {.samples = kSamples, .global_batch = kBatch, .kind = OrderKind::kNone};
  options.slice = {.batch = kBatch};
  options.outputs = Plan(small_recipe()).outputs();
  options.fields = {"image"};
  options.prefetch = prefetch;
  options.batch_memory_max.host = 10 * batch_bytes(options.outputs, kBatch);
  options.read_ahead_bytes = 1 << 20;
  options.bad_sample = BadSlotPolicy::kFail;
  return options;
}

// A board with the engine's reader, who takes one ticket at a time, and a worker who makes memory ready.
constexpr std::int64_t kSecond = 1'000'000'000;

class DrivenBoard : public TicketBoard {
 public:
  using TicketBoard::TicketBoard;

  /// The next ticket with its bytes granted; null while there is none or no room for it.
  Ticket* draw() {
    while (waiting_ && waiting_->work->discarded) read_done(*std::exchange(waiting_, nullptr));
    if (Ticket* ticket = again(clock_ns_)) return ticket;
    if (Ticket* ticket = again(clock_ns_ += kSecond)) return ticket;  // longer than any has to wait
    if (!waiting_) {
      waiting_ = TicketBoard::draw();
      if (waiting_) locate(*waiting_);
    }
    if (!waiting_ || !grant(*waiting_)) return nullptr;
    return std::exchange(waiting_, nullptr);
  }
  bool may_draw() const { return may_go_on(); }
  void grant_memory() {
    for (BatchGrant grant; take_grant(grant); grant = {}) {
      prepare(grant);
      granted(grant);
    }
  }
  std::size_t take(std::span<Ticket*> tickets) {
    grant_memory();
    return TicketBoard::take(tickets);
  }
  std::unique_ptr<LoaderBatch> pop() { return TicketBoard::pop(bad); }
  void release(std::unique_ptr<LoaderBatch> batch) {
    TicketBoard::release(std::move(batch));
    grant_memory();
    while (take_surplus()) continue;
  }

  std::vector<BadSlot> bad;  // of the batch that was popped last

 private:
  std::int64_t clock_ns_ = 1;
  Ticket* waiting_ = nullptr;
};

class Board : public testing::Test {
 protected:
  // Draws as many tickets as it may, and says they were read.
  std::vector<Ticket*> draw_all(DrivenBoard& board) {
    std::vector<Ticket*> drawn;
    while (Ticket* ticket = board.draw()) {
      drawn.push_back(ticket);
      board.read_done(*ticket);
    }
    board.grant_memory();
    return drawn;
  }

  static std::vector<std::int64_t> take_all(DrivenBoard& board, std::vector<Ticket*>* taken = nullptr) {
    std::vector<std::int64_t> samples;
    Ticket* tickets[3];
    while (const std::size_t count = board.take(tickets)) {
      for (std::size_t i = 0; i < count; ++i) {
        samples.push_back(tickets[i]->sample);
        if (taken) taken->push_back(tickets[i]);
      }
    }
    return samples;
  }

  static void finish_all(DrivenBoard& board) {
    std::vector<Ticket*> taken;
    take_all(board, &taken);
    for (Ticket* ticket : taken) board.finish(*ticket);
  }

  MemoryDataset data_ = memory_dataset({.samples = kSamples, .tiny = true});
};

TEST_F(Board, ReadsOneBatchMoreThanItHasMemoryFor) {
  DrivenBoard board(*data_.dataset, options_with(2), host_allocator());
  EXPECT_EQ(board.draw(), nullptr) << "no epoch was started";
  board.start_epoch(0);
  EXPECT_EQ(draw_all(board).size(), 3u * kBatch);
  EXPECT_THAT(take_all(board), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7)) << "the third batch waits for memory";
  EXPECT_EQ(board.ready_count(), std::size_t{kBatch});
}

TEST_F(Board, LendsMemoryThatNoBatchNeeds) {
  DrivenBoard board(*data_.dataset, options_with(2), host_allocator());
  const std::size_t each = board.batch_bytes().host;
  EXPECT_FALSE(board.lend({.host = 8 * each})) << "of ten two are made ahead, and the consumer has one";
  EXPECT_TRUE(board.lend({.host = 7 * each}));
  EXPECT_EQ(board.batch_memory_max().host, 3 * each);
  EXPECT_FALSE(board.lend({.host = 1}));
  board.start_epoch(0);
  draw_all(board);
  finish_all(board);
  EXPECT_LE(board.batch_memory().host, 3 * each);
  board.return_lent({.host = 7 * each});
  EXPECT_EQ(board.batch_memory_max().host, 10 * each);
}

TEST_F(Board, CountsTheSlotsThatWereMade) {
  DrivenBoard board(*data_.dataset, options_with(2), host_allocator());
  board.start_epoch(0);
  draw_all(board);
  EXPECT_EQ(board.slots_made(), 0);
  finish_all(board);
  EXPECT_EQ(board.slots_made(), 2 * kBatch);
}

TEST_F(Board, DrawsFurtherAheadWhereReadsAreToBePlanned) {
  BoardOptions options = options_with(1);
  options.tickets_ahead = 3 * kBatch + 1;
  DrivenBoard board(*data_.dataset, options, host_allocator());
  board.start_epoch(0);
  EXPECT_EQ(draw_all(board).size(), 4u * kBatch);
  EXPECT_EQ(take_all(board).size(), std::size_t{kBatch}) << "only one batch has memory";
  EXPECT_EQ(board.batch_memory().host, board.batch_bytes().host);

  options.fields = {};
  DrivenBoard labels(*data_.dataset, options, host_allocator());
  labels.start_epoch(0);
  EXPECT_EQ(draw_all(labels).size(), 2u * kBatch) << "nothing is read, so there is nothing to plan";
}

TEST_F(Board, MovesItsNearEndAsSamplesAreDone) {
  BoardOptions options = options_with(1);
  options.near_bytes = 1000;
  DrivenBoard board(*data_.dataset, options, host_allocator());
  board.start_epoch(0);
  EXPECT_EQ(board.near_end(), 1000u);
  std::vector<Ticket*> drawn = draw_all(board), taken;
  const std::uint64_t each = drawn[1]->grant.place;
  EXPECT_EQ(drawn[3]->grant.place, 3 * each);
  take_all(board, &taken);
  board.finish(*taken[1]);
  EXPECT_EQ(board.near_end(), 1000u) << "the oldest is still there";
  board.finish(*taken[0]);
  EXPECT_EQ(board.near_end(), 1000 + 2 * each);
}

TEST_F(Board, ReadsAgainWhatMayHaveFailedForItsNeighbour) {
  DrivenBoard board(*data_.dataset, options_with(1), host_allocator());
  board.start_epoch(0);
  Ticket* first = board.draw();
  first->error = std::make_exception_ptr(Error(ErrorKind::kData, "the shard ends in the next sample"));
  first->error_shared = true;
  board.read_done(*first);
  ASSERT_EQ(board.draw(), first);
  EXPECT_EQ(first->error, nullptr);
  first->error = std::make_exception_ptr(Error(ErrorKind::kData, "the shard ends in this one"));
  board.read_done(*first);
  EXPECT_NE(board.draw(), first) << "its own error is final";
}

TEST_F(Board, ReportsTheErrorOfTheLowestSlotWhicheverFailedFirst) {
  for (const auto& [first, second] : {std::pair{1, 3}, std::pair{3, 1}}) {
    DrivenBoard board(*data_.dataset, options_with(1), host_allocator());
    board.start_epoch(0);
    draw_all(board);
    std::vector<Ticket*> taken;
    take_all(board, &taken);
    for (const int slot : {first, second, 0, 2}) {
      Ticket& ticket = *taken[static_cast<std::size_t>(slot)];
      if (slot % 2 == 1) ticket.error = std::make_exception_ptr(Error(ErrorKind::kBadSample, std::to_string(slot)));
      EXPECT_EQ(board.finish(ticket), slot == 2);
    }
    ASSERT_TRUE(board.front_sealed());
    try {
      board.pop();
      FAIL() << "expected an error";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "1");
    }
    EXPECT_EQ(board.held(), 0) << "the failed batch's memory went back";
  }
}

TEST_F(Board, TakesSamplesUpToTheLimitAndRefusesLargerOnes) {
  BoardOptions options = options_with(1);
  options.sample_bytes_max = data_.dataset->row(0).image_field()->length;
  DrivenBoard exactly(*data_.dataset, options, host_allocator());
  exactly.start_epoch(0);
  EXPECT_EQ(exactly.draw()->error, nullptr);

  --options.sample_bytes_max;
  DrivenBoard less(*data_.dataset, options, host_allocator());
  less.start_epoch(0);
  const Ticket& refused = *less.draw();
  ASSERT_NE(refused.error, nullptr);
  EXPECT_EQ(refused.reads_pending, 0);
  try {
    std::rethrow_exception(refused.error);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kLimit);
    EXPECT_THAT(error.what(), HasSubstr("more memory"));
  }
}

TEST_F(Board, ForgetsWhatWasDrawnWhenAnotherEpochIsStarted) {
  BoardOptions options = options_with(2);
  options.order.kind = OrderKind::kGlobal;
  DrivenBoard board(*data_.dataset, options, host_allocator());
  board.start_epoch(0);
  for (int i = 0; i < 6; ++i) board.read_done(*board.draw());
  EXPECT_GT(board.read_ahead_used(), 0u);

  board.start_epoch(3);
  EXPECT_EQ(board.ready_count(), 0u);
  EXPECT_EQ(board.read_ahead_used(), 0u);
  draw_all(board);
  const EpochOrder order(options.order, 3);
  std::vector<std::int64_t> want;
  for (int position = 0; position < 2 * kBatch; ++position) want.push_back(*order.sample_at(position));
  EXPECT_EQ(take_all(board), want);
}

TEST_F(Board, ForgetsTheSampleItHadNoRoomFor) {
  BoardOptions options = options_with(2);
  options.order.kind = OrderKind::kGlobal;
  options.read_ahead_bytes = data_.dataset->row(0).image_field()->length;
  DrivenBoard board(*data_.dataset, options, host_allocator());
  board.start_epoch(0);
  board.read_done(*board.draw());
  EXPECT_EQ(board.draw(), nullptr);
  board.start_epoch(3);
  EXPECT_EQ(board.draw()->sample, EpochOrder(options.order, 3).sample_at(0));
}

TEST_F(Board, HasNoRoomForAnEmptyFieldInAFullArenaEither) {
  std::vector<std::uint8_t> bytes(1 << 20, 1);
  SampleTable table;
  for (const std::uint64_t length : {std::uint64_t{1} << 20, std::uint64_t{0}}) {
    table.add_sample(length ? "full" : "empty", 0);
    table.add_field("jpg", "", 0, length);
  }
  const auto source = std::make_shared<MemorySource>("memory.tar", std::move(bytes));
  const ShardedDataset dataset({source}, std::move(table), {});
  BoardOptions options = options_with(1);
  options.order.samples = 2;
  options.order.global_batch = options.slice.batch = 2;
  DrivenBoard board(dataset, options, host_allocator());
  board.start_epoch(0);
  Ticket* full = board.draw();
  EXPECT_EQ(board.read_ahead_used(), board.read_ahead_max());
  EXPECT_EQ(board.draw(), nullptr);
  board.read_done(*full);
  Ticket* taken[1];
  ASSERT_EQ(board.take(taken), 1u);
  board.finish(*taken[0]);
  EXPECT_TRUE(board.may_draw());
  EXPECT_EQ(board.draw()->reads_pending, 1);
}

TEST_F(Board, NeedsNoRoomForLabelsAlone) {
  BoardOptions options = options_with(2);
  options.fields = {};
  DrivenBoard board(*data_.dataset, options, host_allocator());
  board.start_epoch(0);
  EXPECT_EQ(draw_all(board).size(), 3u * kBatch);
  EXPECT_EQ(board.read_ahead_used(), 0u);
}

TEST_F(Board, IssuesATicketAgainWhoseReadFailed) {
  for (const ErrorKind kind : {ErrorKind::kIo, ErrorKind::kMemory}) {
    DrivenBoard board(*data_.dataset, options_with(1), host_allocator());
    board.start_epoch(0);
    Ticket* first = board.draw();
    const Bytes bytes = first->grant.bytes;
    for (int attempt = 1; attempt <= 3; ++attempt) {
      EXPECT_EQ(first->attempts, attempt);
      EXPECT_EQ(first->reads_pending, 1);
      EXPECT_EQ(first->grant.bytes.data(), bytes.data());
      first->error = std::make_exception_ptr(Error(kind, "the machine hiccups"));
      EXPECT_EQ(board.ready_count(), 0u);
      board.read_done(*first);
      if (attempt == 3) break;
      EXPECT_TRUE(board.may_draw());
      ASSERT_EQ(board.draw(), first) << "before any new ticket";
      EXPECT_EQ(first->error, nullptr);
    }
    EXPECT_EQ(board.ready_count(), 1u) << "after three attempts a worker reports it";
    EXPECT_NE(first->error, nullptr);
  }
}

TEST_F(Board, WaitsLongerEachTimeBeforeItReadsATicketAgain) {
  DrivenBoard board(*data_.dataset, options_with(1), host_allocator());
  board.start_epoch(0);
  Ticket* first = board.draw();
  const auto fail_read = [&](bool shared) {
    first->error = std::make_exception_ptr(Error(ErrorKind::kIo, "the disk hiccups"));
    first->error_shared = shared;
    board.read_done(*first);
    EXPECT_TRUE(board.has_again()) << "not looked at yet";
    EXPECT_EQ(board.next_again_ns(), std::nullopt);
  };
  std::int64_t now = 1000;
  fail_read(true);
  EXPECT_EQ(board.again(now), first) << "at once: it may have been a neighbour's fault";
  fail_read(false);
  EXPECT_EQ(board.again(now), nullptr);
  EXPECT_FALSE(board.has_again());
  const std::int64_t due = now + read_again_delay_ns(2);
  EXPECT_EQ(board.next_again_ns(), due);
  EXPECT_EQ(board.again(due - 1), nullptr);
  EXPECT_EQ(board.again(due), first);
  EXPECT_EQ(board.next_again_ns(), std::nullopt);

  EXPECT_EQ(read_again_delay_ns(1), kSecond / 100);
  for (int attempts = 1; attempts < 100; ++attempts) {
    EXPECT_EQ(read_again_delay_ns(attempts + 1), std::min(4 * read_again_delay_ns(attempts), kSecond));
  }
}

TEST_F(Board, ForgetsTicketsToBeReadAgainWithTheirEpoch) {
  DrivenBoard board(*data_.dataset, options_with(1), host_allocator());
  board.start_epoch(0);
  Ticket* first = board.draw();
  first->error = std::make_exception_ptr(Error(ErrorKind::kIo, "the disk hiccups"));
  board.read_done(*first);
  board.start_epoch(1);
  EXPECT_EQ(board.read_ahead_used(), 0u);
  EXPECT_EQ(board.draw()->attempts, 1);
}

TEST_F(Board, WaitsForTheTicketsInUseOfAnEpochThatWasLeft) {
  DrivenBoard board(*data_.dataset, options_with(1), host_allocator());
  board.start_epoch(0);
  std::vector<Ticket*> being_read, worked_on;
  for (int i = 0; i < kBatch; ++i) being_read.push_back(board.draw());
  board.read_done(*being_read[0]);
  Ticket* taken[1];
  ASSERT_EQ(board.take(taken), 1u);

  board.start_epoch(1);
  EXPECT_GT(board.read_ahead_used(), 0u);
  EXPECT_FALSE(board.finish(*taken[0]));
  for (int i = 1; i < kBatch; ++i) board.read_done(*being_read[static_cast<std::size_t>(i)]);
  EXPECT_EQ(board.read_ahead_used(), 0u);
  EXPECT_EQ(board.ready_count(), 0u);
  draw_all(board);
  finish_all(board);
  ASSERT_TRUE(board.front_sealed());
  EXPECT_EQ(board.pop()->epoch, 1);
}

TEST_F(Board, KeepsTheEpochThatIsAlreadyBeingMade) {
  DrivenBoard board(*data_.dataset, options_with(2), host_allocator());
  board.start_epoch(0);
  draw_all(board);
  board.start_epoch(0);
  EXPECT_EQ(board.ready_count(), 3u * kBatch);
}

TEST_F(Board, GivesMemoryBackWhenPrefetchShrinks) {
  DrivenBoard board(*data_.dataset, options_with(5), host_allocator());
  board.start_epoch(0);
  draw_all(board);
  EXPECT_EQ(board.batch_memory().host, 5 * board.batch_bytes().host);
  board.set_prefetch(1);
  for (int i = 0; i < 5; ++i) {
    finish_all(board);
    ASSERT_TRUE(board.front_sealed());
    board.release(board.pop());
  }
  EXPECT_EQ(board.batch_memory().host, 3 * board.batch_bytes().host) << "one ahead, and two for the consumer";
}

TEST_F(Board, IsStarvedOnlyWhileTheConsumerHoldsAllMemory) {
  BoardOptions options = options_with(1);
  options.batch_memory_max.host = 2 * batch_bytes(options.outputs, kBatch);
  DrivenBoard board(*data_.dataset, options, host_allocator());
  EXPECT_FALSE(board.starved());
  board.start_epoch(0);
  std::vector<std::unique_ptr<LoaderBatch>> kept;
  for (int i = 0; i < 2; ++i) {
    draw_all(board);
    finish_all(board);
    EXPECT_FALSE(board.starved());
    kept.push_back(board.pop());
  }
  draw_all(board);
  EXPECT_TRUE(board.starved());
  board.release(std::move(kept.back()));
  EXPECT_FALSE(board.starved());
}

// Memory of which a test sees when it is taken.
class CountingAllocator final : public Allocator {
 public:
  std::uint8_t* allocate(std::size_t bytes) override {
    ++taken;
    return host_allocator().allocate(bytes);
  }
  void deallocate(std::uint8_t* memory, std::size_t bytes) noexcept override {
    --taken;
    host_allocator().deallocate(memory, bytes);
  }

  int taken = 0;
};

// The consumer copies batches to a GPU in streams, which are waited for.
class CountingPinnedHost final : public PinnedHost {
 public:
  Allocator& memory() override { return allocator; }
  std::shared_ptr<const StreamMark> mark(DeviceStream) noexcept override {
    struct Mark final : StreamMark {
      explicit Mark(int& all) : waits(all) {}
      void wait() const override { ++waits; }
      int& waits;
    };
    return std::make_shared<Mark>(waits);
  }

  CountingAllocator allocator;
  int waits = 0;
};

TEST_F(Board, AllocatesAndWaitsForStreamsOnlyWhereNoLockIsNeeded) {
  CountingPinnedHost host;
  BoardOptions options = options_with(1);
  options.batch_memory_max.host = batch_bytes(options.outputs, kBatch);
  options.device.pinned = &host;
  TicketBoard board(*data_.dataset, options, host_allocator());
  board.start_epoch(0);
  std::vector<BadSlot> bad;
  for (int batch = 0; batch < 3; ++batch) {
    SCOPED_TRACE(batch);
    BatchGrant grant;
    while (Ticket* ticket = board.draw()) {
      board.locate(*ticket);
      ASSERT_TRUE(board.grant(*ticket));
      board.read_done(*ticket);
    }
    ASSERT_TRUE(board.take_grant(grant));
    EXPECT_FALSE(board.front_lacks_memory() || board.starved()) << "it comes";
    EXPECT_FALSE(board.may_grant()) << "that was all";
    EXPECT_EQ(host.allocator.taken, batch == 0 ? 0 : 1) << "chosen under the lock, and no more";
    const int waits = host.waits;
    board.prepare(grant);
    EXPECT_EQ(host.allocator.taken, 1);
    EXPECT_EQ(host.waits, waits + (batch == 0 ? 0 : 1)) << "for the stream that copied the batch before";
    EXPECT_EQ(board.workable_count(), 0u);
    board.granted(grant);
    EXPECT_EQ(board.workable_count(), std::size_t{kBatch});
    Ticket* tickets[kBatch];
    ASSERT_EQ(board.take(tickets), std::size_t{kBatch});
    for (Ticket* ticket : tickets) board.finish(*ticket);
    const int before = host.waits;
    std::unique_ptr<LoaderBatch> delivered = board.pop(bad);
    delivered->let_go();
    board.release(std::move(delivered));
    EXPECT_EQ(board.take_surplus(), nullptr);
    EXPECT_EQ(host.waits, before);
  }
}

TEST_F(Board, KeepsMemoryThatWasMadeReadyForAnEpochThatWasLeft) {
  DrivenBoard board(*data_.dataset, options_with(1), host_allocator());
  board.start_epoch(0);
  board.read_done(*board.draw());
  BatchGrant grant;
  ASSERT_TRUE(board.take_grant(grant));
  board.prepare(grant);
  board.start_epoch(1);
  board.granted(grant);
  EXPECT_EQ(board.batch_memory().host, board.batch_bytes().host);
  draw_all(board);
  EXPECT_EQ(board.batch_memory().host, board.batch_bytes().host) << "the next epoch has it";
  EXPECT_EQ(board.workable_count(), std::size_t{kBatch});
}

TEST_F(Board, GivesMemoryToOneBatchAfterTheOther) {
  DrivenBoard board(*data_.dataset, options_with(3), host_allocator());
  board.start_epoch(0);
  while (Ticket* ticket = board.draw()) board.read_done(*ticket);
  BatchGrant first, second;
  ASSERT_TRUE(board.take_grant(first));
  EXPECT_EQ(first.work->index, 0);
  EXPECT_FALSE(board.take_grant(second)) << "which would keep it from the first, were that refused what it is to get";
  board.prepare(first);
  board.granted(first);
  ASSERT_TRUE(board.take_grant(second));
  EXPECT_EQ(second.work->index, 1);
  board.prepare(second);
  board.granted(second);
  EXPECT_EQ(board.workable_count(), 2u * kBatch);
}

TEST_F(Board, TellsTheConsumerThatTheMachineHasNoMemoryAndAsksAgainWhenSomethingChanged) {
  DrivenBoard board(*data_.dataset, options_with(1), host_allocator());
  board.start_epoch(0);
  board.read_done(*board.draw());
  BatchGrant grant;
  ASSERT_TRUE(board.take_grant(grant));
  grant.error = std::make_exception_ptr(Error(ErrorKind::kMemory, "there is none"));
  board.granted(grant);
  EXPECT_EQ(board.batch_memory().host, 0u);
  EXPECT_FALSE(board.may_grant());
  EXPECT_TRUE(board.starved());
  EXPECT_TRUE(board.allocation_error());
  board.start_epoch(1);
  draw_all(board);
  EXPECT_FALSE(board.starved());
  EXPECT_EQ(board.workable_count(), std::size_t{kBatch});
}

TEST_F(Board, HasNoWorkForAWorkerWhereTicketsWaitForMemory) {
  DrivenBoard board(*data_.dataset, options_with(1), host_allocator());
  board.start_epoch(0);
  EXPECT_FALSE(board.has_work());
  draw_all(board);
  EXPECT_TRUE(board.has_work());
  take_all(board);
  EXPECT_EQ(board.ready_count(), std::size_t{kBatch}) << "of the second batch";
  EXPECT_FALSE(board.has_work()) << "which has no memory as long as prefetch does not reach it";
  board.set_prefetch(2);
  EXPECT_TRUE(board.has_work()) << "now it may";
  board.grant_memory();
  EXPECT_EQ(board.workable_count(), std::size_t{kBatch});
}

TEST_F(Board, BatchesCrossInOrderAndOneAtATime) {
  const std::shared_ptr<Device> device = open_device("emulated:execute");
  const Plan plan(small_recipe());
  BoardOptions options = options_with(3);
  options.device = {.device = device.get(), .plan = &plan};
  options.has_steps = true;
  options.batch_memory_max = {.host = SIZE_MAX / 2, .device = SIZE_MAX / 2};
  DrivenBoard board(*data_.dataset, options, host_allocator());
  board.start_epoch(0);
  draw_all(board);
  std::vector<Ticket*> taken;
  take_all(board, &taken);
  std::stable_sort(taken.begin(), taken.end(), [](Ticket* a, Ticket* b) { return a->work->index > b->work->index; });
  ASSERT_EQ(taken.size(), 3U * kBatch);
  for (std::size_t i = 0; i + 1 < taken.size(); ++i) {
    board.finish(*taken[i]);
    EXPECT_EQ(board.take_written(), nullptr) << "the first one is not complete";
  }
  board.finish(*taken.back());
  for (std::int64_t index = 0; index < 3; ++index) {
    EXPECT_FALSE(board.front_sealed() && index == 0);
    BatchWork* const work = board.take_written();
    ASSERT_TRUE(work);
    EXPECT_EQ(work->index, index);
    EXPECT_EQ(board.take_written(), nullptr) << "one at a time";
    board.steps_done(*work, nullptr);
    EXPECT_TRUE(board.front_sealed());
  }
  EXPECT_EQ(board.take_written(), nullptr);
}

}  // namespace
}  // namespace stoker
