#include "stoker/runtime/board/batch_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/plan/plan.h"
#include "stoker/runtime/loader_testing.h"

namespace stoker {
namespace {

constexpr int kSlots = 4;

// Memory for so many batches.
BatchPoolOptions options_for(int batches) {
  BatchPoolOptions options;
  options.outputs = Plan(small_recipe()).outputs();
  options.memory_max.host = static_cast<std::size_t>(batches) * batch_bytes(options.outputs, kSlots);
  return options;
}

// Takes memory and makes it ready.
std::unique_ptr<LoaderBatch> take(BatchPool& pool) {
  BatchGrant grant;
  if (!pool.take(grant)) return nullptr;
  pool.prepare(grant, kSlots);
  return std::move(grant.batch);
}

TEST(BatchPool, MakesAsManyBatchesAsTheBudgetAllowsAndUsesThemAgain) {
  BatchPool pool(options_for(2), kSlots, host_allocator());
  EXPECT_EQ(pool.memory().host, 0U);
  std::unique_ptr<LoaderBatch> first = take(pool), second = take(pool);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(pool.memory().host, 2 * pool.bytes().host);
  EXPECT_FALSE(pool.available());
  EXPECT_EQ(take(pool), nullptr);
  const LoaderBatch* const memory = second.get();
  pool.put_back(std::move(second));
  EXPECT_TRUE(pool.available());
  EXPECT_EQ(take(pool).get(), memory);
}

TEST(BatchPool, IsExhaustedWhileTheConsumerHoldsAll) {
  BatchPool pool(options_for(2), kSlots, host_allocator());
  EXPECT_FALSE(pool.exhausted());
  std::unique_ptr<LoaderBatch> first = take(pool), second = take(pool);
  pool.hold();
  EXPECT_FALSE(pool.exhausted()) << "the second is on its way";
  pool.hold();
  EXPECT_TRUE(pool.exhausted());
  EXPECT_EQ(pool.held(), 2);
  pool.release(std::move(first));
  EXPECT_FALSE(pool.exhausted());
}

TEST(BatchPool, GivesNoMemoryThatADeviceMayStillWriteTo) {
  BatchPool pool(options_for(1), kSlots, host_allocator());
  std::unique_ptr<LoaderBatch> batch = take(pool);
  LoaderBatch& released = *batch;
  released.device_done = false;
  pool.hold();
  pool.release(std::move(batch));
  EXPECT_FALSE(pool.available());
  pool.device_done(released);
  EXPECT_TRUE(pool.available());
}

TEST(BatchPool, AsksAgainForWhatTheMachineRefusedWhenSomethingHasChanged) {
  BatchPool pool(options_for(2), kSlots, host_allocator());
  BatchGrant grant;
  ASSERT_TRUE(pool.take(grant));
  pool.lost(std::make_exception_ptr(Error(ErrorKind::kMemory, "there is none")));
  EXPECT_EQ(pool.memory().host, 0U);
  EXPECT_FALSE(pool.available());
  EXPECT_TRUE(pool.exhausted());
  EXPECT_TRUE(pool.error());
  pool.ask_again();
  EXPECT_TRUE(pool.available());
  ASSERT_TRUE(pool.take(grant));
  pool.lost(nullptr);
  EXPECT_TRUE(pool.available()) << "it was not wanted";
}

TEST(BatchPool, LeavesTwoForTheConsumerAndWhatBatchesLack) {
  BatchPool pool(options_for(5), kSlots, host_allocator());
  std::vector<std::unique_ptr<LoaderBatch>> taken;
  for (int i = 0; i < 5; ++i) taken.push_back(take(pool));
  EXPECT_EQ(pool.take_surplus(1, 0), nullptr) << "none is free";
  for (auto& batch : taken) pool.put_back(std::move(batch));
  EXPECT_EQ(pool.take_surplus(3, 0), nullptr) << "three ahead, and two for the consumer";
  EXPECT_EQ(pool.take_surplus(1, 5), nullptr) << "all are wanted";
  EXPECT_NE(pool.take_surplus(1, 0), nullptr);
  EXPECT_NE(pool.take_surplus(1, 0), nullptr);
  EXPECT_EQ(pool.take_surplus(1, 0), nullptr);
  EXPECT_EQ(pool.memory().host, 3 * pool.bytes().host);
}

TEST(BatchPool, LendsMemoryThatNoBatchNeeds) {
  BatchPool pool(options_for(10), kSlots, host_allocator());
  const std::size_t each = pool.bytes().host;
  EXPECT_FALSE(pool.lend({.host = 8 * each}, 2)) << "of ten two are made ahead, and the consumer has one";
  EXPECT_TRUE(pool.lend({.host = 7 * each}, 2));
  EXPECT_EQ(pool.memory_max().host, 3 * each);
  EXPECT_FALSE(pool.lend({.host = 1}, 2));
  std::vector<std::unique_ptr<LoaderBatch>> taken;
  while (pool.available()) taken.push_back(take(pool));
  EXPECT_EQ(taken.size(), 3U);
  pool.release_lent({.host = 7 * each});
  EXPECT_EQ(pool.memory_max().host, 10 * each);
  EXPECT_TRUE(pool.available());
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

TEST(BatchPool, AllocatesAndWaitsForStreamsOnlyWhereNoLockIsNeeded) {
  CountingPinnedHost host;
  BatchPoolOptions options = options_for(1);
  options.device.pinned = &host;
  BatchPool pool(options, kSlots, host_allocator());
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    const int before = host.waits;
    BatchGrant grant;
    ASSERT_TRUE(pool.take(grant));
    EXPECT_FALSE(pool.available()) << "that was all";
    EXPECT_EQ(host.allocator.taken, round == 0 ? 0 : 1) << "chosen under the lock, and no more";
    EXPECT_EQ(host.waits, before);
    pool.prepare(grant, kSlots);
    EXPECT_EQ(host.allocator.taken, 1);
    EXPECT_EQ(host.waits, before + (round == 0 ? 0 : 1)) << "for the stream that copied the batch before";
    pool.hold();
    grant.batch->release();
    pool.release(std::move(grant.batch));
    EXPECT_EQ(pool.take_surplus(1, 0), nullptr);
  }
}

}  // namespace
}  // namespace stoker
