// What budget is enough, and how it is divided.
#include "stoker/runtime/engine/memory_plan.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "stoker/format/open/sharded_dataset.h"
#include "stoker/runtime/loader_testing.h"
#include "stoker/storage/memory_source_testing.h"

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

class UnusedMeter final : public TrafficMeter {
 public:
  StoreTraffic traffic() const override { return {}; }
};

/// Of so many samples, each of that many bytes, behind a network or not.
ShardedDataset large_dataset(std::int64_t samples, std::uint64_t bytes, bool is_far) {
  SampleTable table;
  for (std::int64_t i = 0; i < samples; ++i) {
    table.add_sample("a", 0);
    table.add_field("jpg", "", 0, bytes);
  }
  const auto source = std::make_shared<MemorySource>("memory.tar", std::vector<std::uint8_t>());
  std::vector<std::unique_ptr<DataShard>> shards;
  shards.push_back(
      std::make_unique<DataShard>(OpenedShard{source, std::make_shared<const SampleTable>(std::move(table))}));
  return {std::move(shards), {"jpg"}, {}, is_far ? TrafficMeters{std::make_shared<UnusedMeter>()} : TrafficMeters{}};
}

TEST(TicketsAhead, FillTheReadAheadOfDataBehindANetwork) {
  const auto ahead = [](std::int64_t samples, std::uint64_t bytes, bool is_far, OrderKind order = OrderKind::kGlobal) {
    const ShardedDataset data = large_dataset(samples, bytes, is_far);
    return tickets_ahead(data,
                         resolve_options(data, small_recipe(), {.batch = 8, .order = order, .rank = 0, .world = 2}));
  };
  EXPECT_EQ(ahead(100'000, 1 << 20, false), 0) << "what batches want is enough";
  EXPECT_NEAR(static_cast<double>(ahead(100'000, 1 << 20, true)), 256, 1);
  EXPECT_EQ(ahead(100'000, 100, true), 4096);
  EXPECT_EQ(ahead(800, 1 << 20, true), 100) << "a quarter of what the rank reads in an epoch";
  EXPECT_EQ(ahead(100'000, 1 << 20, true, OrderKind::kWindowed), ahead(100'000, 1 << 20, false, OrderKind::kWindowed));
}

TEST(MemoryPlan, HasRoomForEntryPointsBehindANetwork) {
  const auto entry_points = [](bool is_far, std::uint64_t memory) {
    const ShardedDataset data = large_dataset(100'000, 1 << 20, is_far);
    const Plan plan(small_recipe());
    const ResolvedOptions options = resolve_options(data, plan.recipe(), {.batch = 8, .memory = memory});
    const MemoryPlan planned = plan_memory(data, plan, options);
    EXPECT_LE(planned.total(), memory);
    return planned.entry_points;
  };
  constexpr std::uint64_t kMuch = std::uint64_t{1} << 40, kLittle = std::uint64_t{1} << 30;
  EXPECT_EQ(entry_points(true, kMuch), (100'000ULL << 20) / 16);
  EXPECT_LT(entry_points(true, kLittle), kLittle / 8);
  EXPECT_GT(entry_points(true, kLittle), kLittle / 10);
  EXPECT_EQ(entry_points(false, kMuch), 0u);
}

}  // namespace
}  // namespace stoker
