// The count that other tests rely on.
#include "stoker/base/allocations_testing.h"

#include <gtest/gtest.h>

#include <new>
#include <thread>
#include <vector>

namespace stoker {
namespace {

TEST(Allocations, AreCounted) {
  const std::int64_t before = allocations_so_far();
  { const std::vector<int> something(100); }
  EXPECT_EQ(allocations_so_far(), before + 1);
}

TEST(Allocations, AreCountedWithAlignmentToo) {
  struct alignas(256) Block {
    char bytes[256];
  };
  const std::int64_t before = allocations_so_far();
  { const std::vector<Block> blocks(3); }
  EXPECT_EQ(allocations_so_far(), before + 1);
}

TEST(Allocations, OfOtherThreadsAreCounted) {
  const std::int64_t before = allocations_so_far();
  std::thread([] { const std::vector<int> something(100); }).join();
  EXPECT_GE(allocations_so_far(), before + 1);
}

TEST(Allocations, ThatAreAliveAreCounted) {
  const std::int64_t before = allocations_alive();
  {
    const std::vector<int> something(100);
    EXPECT_EQ(allocations_alive(), before + 1);
  }
  EXPECT_EQ(allocations_alive(), before);
}

/// Which of three vectors get their memory.
std::vector<bool> granted(std::int64_t number, bool for_good) {
  bool got[3] = {};
  {
    const AllocationFault fault(number, for_good);
    for (bool& one : got) {
      try {
        const std::vector<int> something(100);
        one = true;
      } catch (const std::bad_alloc&) {
      }
    }
    EXPECT_TRUE(fault.happened());
  }
  return {got[0], got[1], got[2]};
}

TEST(Allocations, AreRefusedOnceOrFromThereOn) {
  EXPECT_EQ(granted(1, false), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(granted(1, true), (std::vector<bool>{true, false, false}));
  const AllocationFault fault(100, true);
  EXPECT_FALSE(fault.happened());
}

}  // namespace
}  // namespace stoker
