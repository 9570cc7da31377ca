#include "stoker/doctor/verdict/right_size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/doctor/facts_testing.h"
#include "stoker/doctor/model/predict.h"

namespace stoker {
namespace {

constexpr std::uint64_t kGiB = 1ull << 30;

RightSize sized(const Facts& facts) { return right_size(facts, Catalogue::shipped()); }

TEST(RightSize, ATrainingNeedsTheCoresThatItsCostsSay) {
  const Facts facts = healthy_facts();
  const TrainingSize size = sized(facts).training;
  EXPECT_TRUE(size.reachable);
  const double needed = 2560 * facts.cpu.total_s();  // if all scaled well
  EXPECT_GE(size.vcpus_per_gpu, 0.9 * needed);
  EXPECT_LE(size.vcpus_per_gpu, 1.4 * needed + 1);
  EXPECT_EQ(size.disk, "sata-ssd");  // 280 MB/s
  EXPECT_EQ(size.layout, "packed");
  EXPECT_TRUE(size.network.empty());
  EXPECT_LE(size.memory_bytes, 32 * kGiB);
}

TEST(RightSize, ThatMachineFeedsTheGpus) {
  for (const Facts& facts : {healthy_facts(), few_cores_facts(), heavy_recipe_facts(), small_files_facts()}) {
    const TrainingSize size = sized(facts).training;
    ASSERT_TRUE(size.reachable);
    Configuration change;
    change.cores = size.vcpus_per_gpu * facts.step.gpus;
    change.memory_bytes = size.memory_bytes;
    change.disk = Catalogue::shipped().disk(size.disk);
    change.layout = size.layout;
    change.cache = size.cache;
    EXPECT_LT(predict(facts, change).gpu_idle, 0.05);
    change.cores = *change.cores - 1;
    EXPECT_GE(predict(facts, change).gpu_idle, 0.05);
  }
}

TEST(RightSize, SaysWhereItCannotBeReached) {
  Facts facts = healthy_facts();
  facts.memory.copy_bytes_per_s = figure(1e9);  // whatever the cores
  EXPECT_FALSE(sized(facts).training.reachable);
}

TEST(RightSize, FindsWhereScalingOverGpusEnds) {
  Facts facts = healthy_facts();
  facts.run.direct = true;
  facts.step.seconds = figure(0.04, 0.01);
  const RightSize size = sized(facts);
  ASSERT_EQ(size.scaling.size(), 8u);
  EXPECT_EQ(size.scaling.front().efficiency, 1);
  ASSERT_TRUE(size.gpus_scale_below.has_value());
  const double cores_for = facts.cpu.scaling.back().samples_per_s.median / 6400;  // GPUs
  EXPECT_NEAR(*size.gpus_scale_below, cores_for / 0.95, 1.2);
  EXPECT_EQ(size.scaling.back().limiter, Limiter::kCpuDecode);
  EXPECT_NEAR(size.node_scaling.back().efficiency, 1, 0.02);  // each has a disk of its own
}

TEST(RightSize, NodesBehindOneStoreDoNotScale) {
  Facts facts = object_store_facts();
  facts.run.io_depth = 64;
  facts.store->link_bytes_per_s = figure(0.2e9);
  const RightSize size = sized(facts);
  EXPECT_LT(size.node_scaling.back().efficiency, 0.2);
  EXPECT_EQ(size.node_scaling.back().limiter, Limiter::kNetwork);
}

TEST(RightSize, InferenceTakesLongerWithItsLoad) {
  const InferenceSize size = sized(healthy_facts()).inference;
  EXPECT_NEAR(size.samples_per_s_most, 2560, 30);
  ASSERT_GE(size.loads.size(), 4u);
  EXPECT_LT(size.loads.back().samples_per_s, 2560);
  for (const LoadPoint& load : size.loads) {
    EXPECT_GT(load.latency_s_p50, 0.1);  // a step
    EXPECT_GE(load.latency_s_p99, load.latency_s_p50);
  }
  EXPECT_GT(size.loads.back().latency_s_p99, size.loads.front().latency_s_p99);
  EXPECT_GT(size.vcpus_per_gpu, 2);
}

TEST(RightSize, PreprocessingTakesItsHours) {
  const Facts facts = few_cores_facts();
  const PreprocessingSize size = sized(facts).preprocessing;
  EXPECT_NEAR(size.hours, 20'000 / 87.0 / 3600, 0.005);
  EXPECT_EQ(size.limiter, Limiter::kCpuDecode);
  EXPECT_GT(size.vcpus_enough, 16);
  const PreprocessingSize small = sized(small_files_facts()).preprocessing;
  EXPECT_EQ(small.limiter, Limiter::kStorageRequests);
  EXPECT_LT(small.vcpus_enough, 2);
}

TEST(RightSize, PreprocessingFindsNoFilesInThePageCache) {
  Facts facts = small_files_facts();
  facts.machine.memory_bytes = 64 * kGiB;  // which would hold all of them
  const PreprocessingSize size = sized(facts).preprocessing;
  EXPECT_EQ(size.limiter, Limiter::kStorageRequests);
  EXPECT_GT(size.hours, 0.5);
}

TEST(RightSize, TellsWhatPartOfTheDataFits) {
  const Portions portions = sized(small_memory_facts()).portions;
  EXPECT_NEAR(*portions.memory_coded, 64.0 * kGiB / (110e3 * 1.28e6), 1e-9);
  EXPECT_NEAR(*portions.gpu_decoded, 80.0 * kGiB / (300e3 * 1.28e6), 1e-9);
  EXPECT_EQ(*sized(healthy_facts()).portions.memory_coded, 1);
  Facts facts = healthy_facts();
  facts.machine.gpus.clear();
  EXPECT_FALSE(sized(facts).portions.gpu_coded.has_value());
}

TEST(RightSize, TakesGpusWhoseMemoryIsNotKnownForTheOthers) {
  Facts facts = eight_gpus_facts();
  const double known = *sized(facts).portions.gpu_coded;
  for (std::size_t i = 1; i < facts.machine.gpus.size(); ++i) facts.machine.gpus[i].memory_bytes = 0;
  EXPECT_DOUBLE_EQ(*sized(facts).portions.gpu_coded, known);
  facts.machine.gpus.front().memory_bytes = 0;
  EXPECT_FALSE(sized(facts).portions.gpu_coded.has_value());
}

TEST(RightSize, OffersMachinesWithFedOnesFirstAndByPrice) {
  Catalogue catalogue = Catalogue::shipped();
  catalogue.extend(R"(
[machine.dear]
vcpus = 64
memory_gb = 512
gpu = "h100"
network = "25g"
disk = "nvme"
price_per_hour = 8
[machine.cheap]
vcpus = 64
memory_gb = 512
gpu = "h100"
network = "25g"
disk = "nvme"
price_per_hour = 4
[machine.starved]
vcpus = 1
memory_gb = 512
gpu = "h100"
network = "25g"
disk = "nvme"
price_per_hour = 0.01
)");
  const RightSize size = right_size(healthy_facts(), catalogue);
  ASSERT_EQ(size.offers.size(), catalogue.machines.size());
  EXPECT_EQ(size.offers[0].machine.name, "cheap");
  EXPECT_EQ(size.offers[1].machine.name, "dear");
  EXPECT_NEAR(*size.offers[0].samples_per_price, 2560 * 3600 / 4.0, 3e4);
  for (const MachineOffer& offer : size.offers) {
    if (offer.machine.name == "starved") {
      EXPECT_FALSE(offer.fed);
    }
  }
}

}  // namespace
}  // namespace stoker
