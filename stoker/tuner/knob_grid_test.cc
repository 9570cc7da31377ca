#include "stoker/tuner/knob_grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

namespace stoker {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;
using testing::UnorderedElementsAre;

// Four threads at most; the first stage is the CPU's. A batch of what crosses at index 1, 2 and 3 is of 40, 10 and 20
// bytes.
TunedWorkload small_workload() {
  TunedWorkload work;
  work.cores = 4;
  work.batch = 10;
  work.stages = {{.name = "decode", .cpu_s = 1, .bytes_out = 4},
                 {.name = "resize", .cpu_s = 1, .device_s = 1, .bytes_out = 1},
                 {.name = "finish", .cpu_s = 1, .device_s = 1, .bytes_out = 2}};
  work.prefetch_max = 12;
  work.io_depth_max = 64;
  return work;
}

std::set<int> values(const std::vector<KnobSetting>& all, int KnobSetting::*knob) {
  std::set<int> values;
  for (const KnobSetting& knobs : all) values.insert(knobs.*knob);
  return values;
}

TEST(KnobGrid, BeginsWithAllThreadsAndIndicesAndModeratelyMuchOfTheRest) {
  const std::vector<KnobSetting> first = KnobGrid(small_workload(), {}).first();
  EXPECT_EQ(first.size(), 12U);
  for (int threads = 1; threads <= 4; ++threads) {
    for (int index = 1; index <= 3; ++index) {
      EXPECT_THAT(first, Contains(KnobSetting{threads, index, kPrefetchFirst, TunedWorkload().io_depth_first}));
    }
  }
}

TEST(KnobGrid, HasTheIndicesFromWhichTheDeviceCanGoOn) {
  TunedWorkload work = small_workload();
  const auto indices = [&] { return values(KnobGrid(work, {}).first(), &KnobSetting::transfer_index); };
  EXPECT_THAT(indices(), ElementsAre(1, 2, 3));
  work.stages[0].device_s = 1;
  EXPECT_THAT(indices(), ElementsAre(0, 1, 2, 3));
  work.stages[2].device_s.reset();
  EXPECT_THAT(indices(), ElementsAre(3));
}

TEST(KnobGrid, HasAsMuchOfWhatIsBoundedAsThereMayBe) {
  TunedWorkload work = small_workload();
  work.prefetch_max = 3;
  work.io_depth_max = 9;
  for (const KnobSetting& knobs : KnobGrid(work, {}).first()) {
    EXPECT_EQ(knobs.prefetch, 3);
    EXPECT_EQ(knobs.io_depth, 9);
  }
}

TEST(KnobGrid, HasEveryNumberOfThreadsOfFewAndStepsOfASixteenthOfMany) {
  TunedWorkload work = small_workload();
  work.cores = 128;  // of which four fifths may work
  const std::set<int> threads = values(KnobGrid(work, {}).first(), &KnobSetting::threads);
  EXPECT_EQ(*threads.begin(), 1);
  EXPECT_EQ(*threads.rbegin(), 103);
  for (int each = 1; each <= 32; ++each) EXPECT_THAT(threads, Contains(each));
  for (auto i = threads.begin(); std::next(i) != threads.end(); ++i) {
    EXPECT_LE(*std::next(i) - *i, std::max(1, *i / 16)) << "after " << *i;
  }
  EXPECT_LT(threads.size(), 60U);
}

TEST(KnobGrid, LeavesWhatIsFixedAsItIs) {
  // Beyond every bound: the user decides.
  const KnobSetting fixed = {.threads = 9, .transfer_index = 2, .prefetch = 30, .io_depth = 100};
  TunerLimits limits;
  limits.fixed.threads = fixed.threads;
  EXPECT_THAT(values(KnobGrid(small_workload(), limits).first(), &KnobSetting::threads), ElementsAre(9));
  limits.fixed.transfer_index = fixed.transfer_index;
  limits.fixed.prefetch = fixed.prefetch;
  limits.fixed.io_depth = fixed.io_depth;
  const KnobGrid grid(small_workload(), limits);
  EXPECT_THAT(grid.first(), ElementsAre(fixed));
  EXPECT_THAT(grid.around(fixed), ElementsAre(fixed));
  EXPECT_EQ(grid.permitted({1, 1, 1, 1}), fixed);
  EXPECT_TRUE(grid.permits(fixed));
  for (const auto knob :
       {&KnobSetting::threads, &KnobSetting::transfer_index, &KnobSetting::prefetch, &KnobSetting::io_depth}) {
    KnobSetting other = fixed;
    other.*knob += 1;
    EXPECT_FALSE(grid.permits(other));
    other.*knob -= 2;
    EXPECT_FALSE(grid.permits(other));
  }
}

TEST(KnobGrid, PermitsWhatKeepsEveryBound) {
  const KnobGrid grid(small_workload(), {});
  EXPECT_TRUE(grid.permits({1, 1, 1, 1}));
  EXPECT_TRUE(grid.permits({4, 3, 12, 64}));
  EXPECT_TRUE(grid.permits({2, 2, 3, 5}));  // between those that are tried
  EXPECT_FALSE(grid.permits({5, 3, 12, 64}));
  EXPECT_FALSE(grid.permits({0, 3, 12, 64}));
  EXPECT_FALSE(grid.permits({4, 0, 12, 64}));
  EXPECT_FALSE(grid.permits({4, 4, 12, 64}));
  EXPECT_FALSE(grid.permits({4, 3, 13, 64}));
  EXPECT_FALSE(grid.permits({4, 3, 12, 65}));
}

TEST(KnobGrid, TakesTheUsersCeilingOfThreads) {
  TunerLimits limits;
  limits.threads_max = 2;
  const KnobGrid grid(small_workload(), limits);
  EXPECT_THAT(values(grid.first(), &KnobSetting::threads), ElementsAre(1, 2));
  EXPECT_FALSE(grid.permits({3, 3, 4, 32}));
}

TEST(KnobGrid, FollowsACeilingOfThreadsThatMoves) {
  KnobGrid grid(small_workload(), {});
  grid.limit_threads(2);
  EXPECT_THAT(values(grid.first(), &KnobSetting::threads), ElementsAre(1, 2));
  EXPECT_FALSE(grid.permits({3, 3, 4, 32}));
  EXPECT_EQ(grid.permitted({4, 3, 4, 32}), (KnobSetting{2, 3, 4, 32}));
  grid.limit_threads(6);
  EXPECT_THAT(values(grid.first(), &KnobSetting::threads), ElementsAre(1, 2, 3, 4, 5, 6));
  grid.limit_threads(0);
  EXPECT_THAT(values(grid.first(), &KnobSetting::threads), ElementsAre(1));

  TunerLimits limits;
  limits.fixed.threads = 3;
  KnobGrid fixed(small_workload(), limits);
  fixed.limit_threads(1);
  EXPECT_THAT(values(fixed.first(), &KnobSetting::threads), ElementsAre(3));
}

TEST(KnobGrid, PermitsOnlyWhatFitsIntoMemory) {
  TunedWorkload work = small_workload();
  work.memory_bytes = 100;  // with the one that is being made: 2, 10 and 5 batches of what crosses
  const KnobGrid grid(work, {});
  EXPECT_TRUE(grid.permits({1, 1, 1, 1}));
  EXPECT_FALSE(grid.permits({1, 1, 2, 1}));
  EXPECT_TRUE(grid.permits({1, 2, 9, 1}));
  EXPECT_FALSE(grid.permits({1, 2, 10, 1}));
  EXPECT_TRUE(grid.permits({1, 3, 4, 1}));
  EXPECT_FALSE(grid.permits({1, 3, 5, 1}));
}

TEST(KnobGrid, BeginsWithAsManyBatchesAheadAsFit) {
  TunedWorkload work = small_workload();
  work.memory_bytes = 100;
  const std::vector<KnobSetting> some = KnobGrid(work, {}).first();
  EXPECT_EQ(some.size(), 12U);
  for (const KnobSetting& knobs : some) EXPECT_EQ(knobs.prefetch, knobs.transfer_index == 1 ? 1 : 4);
  work.memory_bytes = 79;  // no batch ahead at index 1; index 3 has room for two
  const std::vector<KnobSetting> fewer = KnobGrid(work, {}).first();
  EXPECT_EQ(fewer.size(), 8U);
  for (const KnobSetting& knobs : fewer) EXPECT_EQ(knobs.prefetch, knobs.transfer_index == 3 ? 2 : 4);
}

TEST(KnobGrid, AsksTheUserWhatFitsIfHeSaysSo) {
  TunedWorkload work = small_workload();
  work.memory_bytes = 1;  // counts no more
  TunerLimits limits;
  limits.fits = [](int transfer_index, int prefetch) { return prefetch <= 2 && transfer_index != 2; };
  const KnobGrid grid(work, limits);
  EXPECT_TRUE(grid.permits({4, 3, 2, 32}));
  EXPECT_FALSE(grid.permits({4, 3, 3, 32}));
  EXPECT_FALSE(grid.permits({4, 2, 1, 32}));
  EXPECT_THAT(values(grid.first(), &KnobSetting::transfer_index), ElementsAre(1, 3));
  EXPECT_THAT(values(grid.first(), &KnobSetting::prefetch), ElementsAre(2));
}

TEST(KnobGrid, HasTheLeastPrefetchWhereNothingFits) {
  TunedWorkload work = small_workload();
  work.memory_bytes = 1;
  const KnobGrid grid(work, {});
  const std::vector<KnobSetting> first = grid.first();
  EXPECT_EQ(first.size(), 12U);
  EXPECT_THAT(values(first, &KnobSetting::prefetch), ElementsAre(1));
  EXPECT_TRUE(grid.permits({4, 3, 1, 64}));
  EXPECT_FALSE(grid.permits({4, 3, 2, 64}));
  EXPECT_EQ(grid.permitted({4, 3, 12, 64}), (KnobSetting{4, 3, 1, 64}));
}

TEST(KnobGrid, LeavesWhatIsPermittedAsItIs) {
  TunedWorkload work = small_workload();
  work.memory_bytes = 100;
  const KnobGrid grid(work, {});
  for (const KnobSetting& knobs : grid.first()) EXPECT_EQ(grid.permitted(knobs), knobs);
}

TEST(KnobGrid, FindsTheNearestWithNoMoreOfAnything) {
  const KnobGrid grid(small_workload(), {});
  EXPECT_EQ(grid.permitted({99, 99, 99, 99}), (KnobSetting{4, 3, 12, 64}));
  EXPECT_EQ(grid.permitted({3, 2, 11, 31}), (KnobSetting{3, 2, 8, 16}));
  // Where there is no less, the least.
  EXPECT_EQ(grid.permitted({0, 0, 0, 0}), (KnobSetting{1, 1, 1, 1}));
}

TEST(KnobGrid, FindsLessPrefetchThatFitsElseAnotherIndex) {
  TunedWorkload work = small_workload();
  work.memory_bytes = 100;
  EXPECT_EQ(KnobGrid(work, {}).permitted({2, 3, 12, 32}), (KnobSetting{2, 3, 4, 32}));
  EXPECT_EQ(KnobGrid(work, {}).permitted({2, 1, 12, 32}), (KnobSetting{2, 1, 1, 32}));
  work.memory_bytes = 79;
  EXPECT_EQ(KnobGrid(work, {}).permitted({2, 1, 12, 32}), (KnobSetting{2, 2, 1, 32}));
}

TEST(KnobGrid, LooksAroundASettingAtAllThreadsAndIndices) {
  const KnobSetting here = {.threads = 2, .transfer_index = 2, .prefetch = 2, .io_depth = 8};
  std::vector<KnobSetting> around = KnobGrid(small_workload(), {}).around(here);
  for (int threads = 1; threads <= 4; ++threads) {
    EXPECT_THAT(around, Contains(KnobSetting{threads, 2, 2, 8}));
    // It may be for memory that this index has few ahead.
    EXPECT_THAT(around, Contains(KnobSetting{threads, 1, 4, 8}));
    EXPECT_THAT(around, Contains(KnobSetting{threads, 3, 4, 8}));
  }
  std::erase_if(around, [&](const KnobSetting& knobs) {
    return knobs.io_depth == 8 && knobs.prefetch == (knobs.transfer_index == 2 ? 2 : 4);
  });
  // More ahead, by a step or two; and depth either way.
  EXPECT_THAT(around, UnorderedElementsAre(KnobSetting{2, 2, 4, 8}, KnobSetting{2, 2, 8, 8}, KnobSetting{2, 2, 2, 4},
                                           KnobSetting{2, 2, 2, 16}, KnobSetting{2, 2, 2, 32}));
}

TEST(KnobGrid, TakesMuchPrefetchAlongToOtherIndices) {
  const std::vector<KnobSetting> around = KnobGrid(small_workload(), {}).around({2, 2, 12, 64});
  for (const KnobSetting& knobs : around) EXPECT_EQ(knobs.prefetch, 12);
  // No more of either is there, so only depth has a step: to less.
  EXPECT_THAT(values(around, &KnobSetting::io_depth), ElementsAre(32, 64));
  EXPECT_EQ(around.size(), 13U);
}

TEST(KnobGrid, LeavesOutADepthThatIsNearTheMost) {
  TunedWorkload work = small_workload();
  work.io_depth_max = 40;
  EXPECT_EQ(KnobGrid(work, {}).permitted({1, 1, 1, 39}).io_depth, 16);
  work.io_depth_max = 41;
  EXPECT_EQ(KnobGrid(work, {}).permitted({1, 1, 1, 40}).io_depth, 32);
}

TEST(KnobGrid, HasADepthToEitherSide) {
  const KnobGrid grid(small_workload(), {});
  EXPECT_THAT(grid.depths_beside({2, 2, 4, 8}),
              UnorderedElementsAre(KnobSetting{2, 2, 4, 4}, KnobSetting{2, 2, 4, 16}));
  EXPECT_THAT(grid.depths_beside({2, 2, 4, 1}), ElementsAre(KnobSetting{2, 2, 4, 2}));
  EXPECT_THAT(grid.depths_beside({2, 2, 4, 64}), ElementsAre(KnobSetting{2, 2, 4, 32}));
  TunerLimits limits;
  limits.fixed.io_depth = 8;
  EXPECT_THAT(KnobGrid(small_workload(), limits).depths_beside({2, 2, 4, 8}), testing::IsEmpty());
}

TEST(KnobGrid, LooksAroundOnlyAtWhatFits) {
  TunedWorkload work = small_workload();
  work.memory_bytes = 100;
  const KnobGrid grid(work, {});
  const std::vector<KnobSetting> around = grid.around({2, 3, 4, 8});
  for (const KnobSetting& knobs : around) EXPECT_TRUE(grid.permits(knobs));
  EXPECT_THAT(around, Contains(KnobSetting{2, 1, 1, 8}));
  EXPECT_THAT(around, Contains(KnobSetting{2, 2, 4, 8}));
  EXPECT_THAT(around, Not(Contains(KnobSetting{2, 3, 8, 8})));
}

}  // namespace
}  // namespace stoker
