// What budget is enough, and how it is divided.
#include "stoker/runtime/engine/memory_plan.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "stoker/runtime/loader_testing.h"

namespace stoker {
namespace {

TEST(MemoryFor, IsTheLeastThatHoldsWhatSamplesNeed) {
  const MemoryDataset data = memory_dataset();
  const Plan plan(small_recipe());
  ResolvedOptions options = resolve_options(*data.dataset, plan.recipe(), {.batch = 8, .prefetch = 1});
  const std::uint64_t least = memory_for(*data.dataset, plan, options, {});
  for (const SampleNeeds needs : {SampleNeeds{.sample_bytes = 50'000'000}, SampleNeeds{.decode_bytes = 400'000'000}}) {
    const std::uint64_t enough = memory_for(*data.dataset, plan, options, needs);
    EXPECT_GT(enough, least + 50'000'000);
    EXPECT_LT(enough, least + 4 * (needs.sample_bytes + needs.decode_bytes));
    options.memory = enough;
    const MemoryPlan memory = plan_memory(*data.dataset, plan, options);
    EXPECT_LE(memory.total(), enough);
  }
}

}  // namespace
}  // namespace stoker
