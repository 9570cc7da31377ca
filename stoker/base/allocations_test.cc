// The count that other tests rely on.
#include "stoker/base/allocations_testing.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace stoker
