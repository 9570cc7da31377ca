#include "stoker/runtime/probe/core_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"
#include "stoker/runtime/loader_testing.h"

namespace stoker {
namespace {

using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(CoreProbe, DecodesByEntryPointsWhereALoaderWould) {
  const Plan plan(small_recipe());
  EXPECT_EQ(measure_core(memory_dataset({.indexed = true}).dataset, plan, {.batch = 8}).indexed, 1);
  EXPECT_EQ(measure_core(memory_dataset().dataset, plan, {.batch = 8}).indexed, 0);
}

TEST(CoreProbe, TriesWhatAnIndexWouldGiveWhereThereIsNone) {
  const Plan plan(small_recipe());
  const CoreProbeOptions options{.batch = 8, .tries_index = true};
  EXPECT_GT(measure_core(memory_dataset().dataset, plan, options).indexed_decode, 0) << "every image by its own points";
  EXPECT_EQ(measure_core(memory_dataset({.indexed = true}).dataset, plan, options).indexed_decode, 0);
}

TEST(CoreProbe, TellsStagesWithinWhatASampleCostsInAll) {
  const Plan plan(small_recipe());
  const CoreCosts costs = measure_core(memory_dataset({.indexed = true}).dataset, plan, {.batch = 8});
  ASSERT_THAT(costs.stages, SizeIs(3));
  EXPECT_THAT(costs.stages, Each(Field(&StageCost::cpu_us, ::testing::Gt(0))));
  EXPECT_EQ(costs.stages[2].bytes_out, 3 * 16 * 16 * 4);
  double stages_us = 0;
  for (const StageCost& stage : costs.stages) stages_us += stage.cpu_us;
  EXPECT_LT(stages_us, 1.05 * costs.cpu_us);
  EXPECT_DOUBLE_EQ(costs.samples_per_s, 1e6 / costs.cpu_us);
  EXPECT_THAT(costs.samples.good, SizeIs(50));
  ASSERT_THAT(costs.each_us, SizeIs(46)) << "without the first ones";
  double each_us = 0;
  for (const double us : costs.each_us) each_us += us / 46;
  EXPECT_NEAR(each_us, costs.cpu_us, 1e-6 * costs.cpu_us);
}

TEST(CoreProbe, PassesOverBadSamplesAndNamesThem) {
  const Plan plan(small_recipe());
  std::vector<int> bad;
  for (int i = 0; i < 40; ++i) bad.push_back(i);  // more than a loader tolerates
  const CoreCosts costs = measure_core(memory_dataset({.bad = bad}).dataset, plan, {.batch = 8});
  EXPECT_THAT(costs.samples.good, SizeIs(10));
  EXPECT_THAT(costs.samples.bad, SizeIs(40));
  EXPECT_GT(costs.samples_per_s, 0);
  const Error error = error_of([&] {
    measure_core(memory_dataset({.bad = {0, 1}, .tiny = true}).dataset, plan,
                 {.batch = 8, .bad_sample = BadSlotPolicy::kFail});
  });
  EXPECT_THAT(error.what(), HasSubstr("sample '"));
}

}  // namespace
}  // namespace stoker
