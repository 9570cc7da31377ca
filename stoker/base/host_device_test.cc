// Test grids detect a kernel that depends on the order of threads.
#include "stoker/base/host_device.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "stoker/base/host_device_testing.h"

namespace stoker {
namespace {

struct Sums {
  std::array<int, 3> of_block{};
};

struct GoodKernel {
  struct Args {
    Sums* sums;
  };
  static constexpr int kThreads = 8, kPhases = 2;
  struct Shared {
    int of_thread[kThreads];
  };
  template <int kPhase>
  static void run(const Args& args, Shared& shared, int block, int thread) {
    if (kPhase == 0) {
      shared.of_thread[thread] = 10 * block + thread;
    } else if (thread == 0) {
      for (const int value : shared.of_thread) args.sums->of_block[static_cast<std::size_t>(block)] += value;
    }
  }
};

// Reads in the phase in which others write.
struct RacingKernel : GoodKernel {
  template <int kPhase>
  static void run(const Args& args, Shared& shared, int block, int thread) {
    GoodKernel::run<0>(args, shared, block, thread);
    if (thread == kThreads - 1) GoodKernel::run<1>(args, shared, block, 0);
  }
  static constexpr int kPhases = 1;
};

// Adds to what it never set.
struct UnsetKernel : GoodKernel {
  template <int kPhase>
  static void run(const Args& args, Shared& shared, int block, int thread) {
    if (kPhase == 0 && thread == 0) return;
    GoodKernel::run<kPhase>(args, shared, block, thread);
  }
};

template <class Kernel>
std::set<std::array<int, 3>> results() {
  std::set<std::array<int, 3>> all;
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    Sums sums;
    run_grid<Kernel>({&sums}, 3, seed);
    all.insert(sums.of_block);
  }
  return all;
}

TEST(GridOnHost, RunsEveryThreadOfEveryBlockInEachPhase) {
  Sums sums;
  run_grid_on_host<GoodKernel>({&sums}, 3);
  EXPECT_EQ(sums.of_block, (std::array{28, 108, 188}));
}

TEST(GridOnHost, MakesTheSameOfAKernelInAnyOrder) {
  EXPECT_EQ(results<GoodKernel>(), (std::set<std::array<int, 3>>{{28, 108, 188}}));
}

TEST(GridOnHost, ShowsWhatAKernelShouldNotCountOn) {
  EXPECT_GT(results<RacingKernel>().size(), 1U);
  EXPECT_GT(results<UnsetKernel>().size(), 1U);
}

TEST(GridOnHost, FindsTheItemOfABlock) {
  struct Item {
    int first_block;
  };
  const Item items[] = {{0}, {1}, {7}};
  constexpr int kItemOfBlock[] = {0, 1, 1, 1, 1, 1, 1, 2, 2};
  for (int block = 0; block < 9; ++block) EXPECT_EQ(item_of_block(items, 3, block), kItemOfBlock[block]) << block;
}

}  // namespace
}  // namespace stoker
