#include "stoker/runtime/probe/calibration.h"

#include <gtest/gtest.h>

#include "stoker/runtime/loader_testing.h"

namespace stoker {
namespace {

class Calibration : public ::testing::Test {
 protected:
  std::optional<std::vector<CrossingCost>> costs_of(const MemoryDataset& data, const std::string& device_name) {
    device_ = open_device(device_name);
    const DeviceSide side = {.device = device_.get(), .plan = &plan_, .image_bytes = mean_sample_bytes(*data.dataset)};
    return calibrate(*data.dataset, plan_, side, {.seed = 1, .lend = lend_, .stop = stop_});
  }

  const Plan plan_ = Plan(small_recipe());
  std::shared_ptr<Device> device_;
  LoaderBatchBytes lent_;
  std::function<bool(const LoaderBatchBytes&)> lend_ = [this](const LoaderBatchBytes& bytes) {
    lent_ = bytes;
    return true;
  };
  std::function<bool()> stop_ = [] { return false; };
};

TEST_F(Calibration, TellsWhatASampleTakesAtEveryIndex) {
  const auto costs = costs_of(memory_dataset({.width = 400, .height = 300, .indexed = true}), "emulated:h100");
  ASSERT_TRUE(costs);
  ASSERT_EQ(costs->size(), 4u);
  EXPECT_LT(costs->front().cpu_us, costs->back().cpu_us) << "to hand a file over is less than to do all with it";
  EXPECT_GT(costs->front().device_us.value(), 0);
  EXPECT_EQ(costs->back().device_us.value(), 0);
  for (const CrossingCost& cost : *costs) EXPECT_GT(cost.bytes_to_device, 0);
  EXPECT_GT(lent_.host, 0u);
}

TEST_F(Calibration, HandsOverByEntryPointsAsALoaderDoes) {
  const MemoryDatasetOptions images{.width = 400, .height = 300};
  MemoryDatasetOptions indexed = images;
  indexed.indexed = true;
  const auto with = costs_of(memory_dataset(indexed), "emulated:h100");
  const auto without = costs_of(memory_dataset(images), "emulated:h100");
  ASSERT_TRUE(with && without);
  EXPECT_LT(with->front().bytes_to_device, with->at(1).bytes_to_device) << "the part of the file under the crop";
  EXPECT_EQ(without->front().bytes_to_device, without->at(1).bytes_to_device) << "planes: it is decoded here";
}

TEST_F(Calibration, LeavesOutSamplesThatAreBad) {
  std::vector<int> bad;
  for (int i = 0; i < 50; i += 2) bad.push_back(i);
  EXPECT_TRUE(costs_of(memory_dataset({.samples = 50, .bad = bad}), "emulated:h100"));
  for (int i = 1; i < 50; i += 2) bad.push_back(i);
  EXPECT_FALSE(costs_of(memory_dataset({.samples = 50, .bad = bad}), "emulated:h100"));
}

TEST_F(Calibration, IsNotThereWhereTheDeviceTellsNoTimes) {
  EXPECT_FALSE(costs_of(memory_dataset(), "emulated:execute"));
}

TEST_F(Calibration, IsNotThereWithoutMemoryForIt) {
  lend_ = [](const LoaderBatchBytes&) { return false; };
  EXPECT_FALSE(costs_of(memory_dataset(), "emulated:h100"));
}

TEST_F(Calibration, EndsWhenNobodyWaitsForIt) {
  stop_ = [] { return true; };
  EXPECT_FALSE(costs_of(memory_dataset(), "emulated:h100"));
  EXPECT_EQ(lent_.host, 0u);
}

}  // namespace
}  // namespace stoker
