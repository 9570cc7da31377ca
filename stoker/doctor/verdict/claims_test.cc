// What others measured and published before there was a doctor, asked of it: small files against shards; disks for
// training, inference and preprocessing; how many vCPUs. The figures that it is given are typical of those machines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/doctor/facts_testing.h"
#include "stoker/doctor/model/predict.h"
#include "stoker/doctor/verdict/catalogue.h"
#include "stoker/doctor/verdict/changes.h"
#include "stoker/doctor/verdict/right_size.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;
using ::testing::Le;

constexpr double kMinute = 60, kHour = 3600;

// Images a second that a V100 takes in training, as bench/platform has it.
constexpr double kAlexNet = 1900, kGoogLeNet = 900, kResNet50 = 330, kVgg16 = 87;
constexpr double kInference = 3;  // so many times the rate of training

double seconds_of_an_epoch(const Facts& facts, const Configuration& change = {}) {
  return static_cast<double>(facts.data.samples) / predict(facts, change).first_epoch_samples_per_s;
}

// A GPU that takes so many photographs a second.
Facts before_a_gpu(double samples_per_s, int batch = 64) {
  Facts facts = healthy_facts();
  facts.step.batch = facts.run.batch = batch;
  facts.step.seconds = figure(batch / samples_per_s, 0.01);
  facts.run.direct = true;  // more data than memory
  return facts;
}

Prediction on_disk(const Facts& facts, const char* disk) {
  return predict(facts, Configuration{.disk = Catalogue::shipped().disk(disk)});
}

TEST(Claims, TwoMillionFilesTakeHoursWhereTwoThousandTakeMinutes) {
  Facts facts = object_store_facts();
  facts.data.layout = "loose";
  facts.data.format = "folder";
  facts.data.samples = 2'000'000;
  facts.data.read_bytes = 5e3;
  facts.data.bytes = 5e3 * 2e6;
  facts.data.record_bytes = 5'000;
  facts.data.record_bytes_quantiles = {5e3, 5e3, 5e3};
  facts.store->requests_at_once = facts.run.io_depth = 4;
  facts.step.seconds = figure(facts.step.batch / 1e6);
  EXPECT_GT(seconds_of_an_epoch(facts), 2 * kHour);
  const Prediction now = predict(facts);
  EXPECT_EQ(now.bottleneck().limiter, Limiter::kStorageRequests);
  EXPECT_LT(seconds_of_an_epoch(facts, {.layout = "packed", .order = "windowed"}), 10 * kMinute);
  const Changes changes = weigh_changes(facts, now, Catalogue::shipped(), training_size(facts, Catalogue::shipped()));
  ASSERT_FALSE(changes.helpful.empty());
  EXPECT_THAT(changes.helpful.front().what_if, HasSubstr("layout=packed"));
}

TEST(Claims, TrainingAsksLittleOfADisk) {
  for (const double samples_per_s : {kGoogLeNet, kResNet50, kVgg16}) {
    for (const char* disk : {"network-disk", "sata-ssd", "nvme"}) {
      EXPECT_LT(on_disk(before_a_gpu(samples_per_s), disk).gpu_idle, 0.05) << samples_per_s << " from " << disk;
    }
  }
}

TEST(Claims, InferenceAsksForAnSsd) {
  Facts facts = before_a_gpu(kInference * kGoogLeNet);
  facts.run.order = "none";
  const double nvme = on_disk(facts, "nvme").samples_per_s;
  EXPECT_NEAR(on_disk(facts, "sata-ssd").samples_per_s, nvme, 0.02 * nvme);
  const Prediction network = on_disk(facts, "network-disk");
  EXPECT_LT(network.samples_per_s, 0.9 * nvme);
  EXPECT_EQ(network.bottleneck().limiter, Limiter::kStorageBandwidth);
}

TEST(Claims, PreprocessingIsAsFastAsItsDisk) {
  Facts facts = before_a_gpu(1e6);
  facts.run.order = "none";
  const Prediction network = on_disk(facts, "network-disk"), sata = on_disk(facts, "sata-ssd");
  EXPECT_EQ(network.bottleneck().limiter, Limiter::kStorageBandwidth);
  EXPECT_EQ(sata.bottleneck().limiter, Limiter::kStorageBandwidth);
  EXPECT_GT(sata.samples_per_s, 1.1 * network.samples_per_s);
  EXPECT_GT(on_disk(facts, "nvme").samples_per_s, 1.25 * sata.samples_per_s);
}

TEST(Claims, TwoCoresFeedAGpuAndAlexNetTakesFour) {
  const auto vcpus = [](double samples_per_s) {
    return right_size(before_a_gpu(samples_per_s), Catalogue::shipped()).training.vcpus_per_gpu;
  };
  for (const double samples_per_s : {kGoogLeNet, kResNet50, kVgg16}) EXPECT_THAT(vcpus(samples_per_s), Le(2.0));
  const double alexnet = vcpus(kAlexNet);
  EXPECT_GT(alexnet, 2);
  EXPECT_LE(alexnet, 4);
}

TEST(Claims, PixelsThatNeedNoDecodingLeaveTwoCoresEnoughForAll) {
  for (const double samples_per_s : {kAlexNet, kGoogLeNet, kResNet50, kVgg16}) {
    Facts facts = before_a_gpu(samples_per_s);
    facts.data.read_bytes = 3.0 * 256 * 256;
    facts.data.bytes = facts.data.read_bytes * static_cast<double>(facts.data.samples);
    facts.cpu.stages.front().cpu_s = 0.02e-3;
    facts.cpu.scaling.clear();
    facts.cpu.sample_s = {facts.cpu.total_s(), facts.cpu.total_s(), facts.cpu.total_s()};
    for (const int threads : {1, 2, 4}) {
      facts.cpu.scaling.push_back({threads, figure(threads / facts.cpu.total_s())});
    }
    EXPECT_LE(right_size(facts, Catalogue::shipped()).training.vcpus_per_gpu, 2) << samples_per_s;
  }
}

TEST(Claims, WordsNeedNeitherCoresNorMemoryNorADisk) {
  Facts facts = before_a_gpu(11'700, 128);  // sequences of 32 words
  facts.data.samples = 29'000;
  facts.data.read_bytes = 64;
  facts.data.bytes = facts.data.read_bytes * static_cast<double>(facts.data.samples);
  facts.data.record_bytes = 64;
  facts.data.record_bytes_quantiles = {64, 64, 64};
  facts.cpu.stages = {};
  facts.cpu.other_s = 5e-6;
  facts.cpu.sample_s = {5e-6, 5e-6, 5e-6};
  facts.cpu.scaling = {{1, figure(200e3)}};
  facts.memory.copied_bytes = 512;
  facts.copy = {};
  facts.run.direct = false;
  facts.run.memory_bytes = 64 << 20;
  facts.run.transfer_index = -1;
  const TrainingSize size = right_size(facts, Catalogue::shipped()).training;
  EXPECT_TRUE(size.reachable);
  EXPECT_EQ(size.vcpus_per_gpu, 1);
  EXPECT_LE(size.memory_bytes, 4ull << 30);
  EXPECT_EQ(size.disk, "hdd");
}

}  // namespace
}  // namespace stoker
