#include "stoker/doctor/model/predict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stoker/doctor/facts_testing.h"

namespace stoker {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kGiB = 1ull << 30;

double rate_of(const Prediction& prediction, Limiter limiter) {
  for (const Limit& limit : prediction.limits) {
    if (limit.limiter == limiter) return limit.samples_per_s;
  }
  return std::numeric_limits<double>::infinity();
}

Limiter bottleneck(const Facts& facts, const Configuration& change = {}) {
  return predict(facts, change).bottleneck().limiter;
}

TEST(Predict, AHealthyRunIsFed) {
  const Prediction prediction = predict(healthy_facts());
  EXPECT_EQ(prediction.bottleneck().limiter, Limiter::kStep);
  EXPECT_NEAR(prediction.samples_per_s_needed, 2560, 1e-9);
  EXPECT_NEAR(prediction.samples_per_s, 2560, 26);
  EXPECT_LT(prediction.gpu_idle, 0.02);
  EXPECT_LT(prediction.error, 0.05);
  EXPECT_NEAR(prediction.wait_s_p95, 0, 1e-3);
  EXPECT_TRUE(std::is_sorted(prediction.limits.begin(), prediction.limits.end(),
                             [](const Limit& a, const Limit& b) { return a.samples_per_s < b.samples_per_s; }));
}

TEST(Predict, FewCoresAreHeldByDecoding) {
  const Prediction prediction = predict(few_cores_facts());
  EXPECT_EQ(prediction.bottleneck().limiter, Limiter::kCpuDecode);
  EXPECT_NEAR(prediction.samples_per_s, 87, 3);  // as measured with two threads
  EXPECT_NEAR(prediction.gpu_idle, 1 - 87.0 / 640, 0.01);
}

TEST(Predict, CoresAreNamedAfterWhatTakesMostOfTheirTime) {
  EXPECT_EQ(bottleneck(heavy_recipe_facts()), Limiter::kCpuTransform);
  const Configuration lighter{.without = "augment"};
  EXPECT_EQ(bottleneck(heavy_recipe_facts(), {.cores = 4}), Limiter::kCpuTransform);
  EXPECT_GT(predict(heavy_recipe_facts(), lighter).samples_per_s, 1.15 * predict(heavy_recipe_facts()).samples_per_s);
}

TEST(Predict, CoresOfOtherMachinesAddWhatTheyMakeLessWhatHandingOverCosts) {
  Facts facts = few_cores_facts();
  const double cores = facts.machine.cores, own = predict(facts).samples_per_s;
  facts.machine.network_bytes_per_s.reset();
  facts.memory = {};
  EXPECT_NEAR(predict(facts, {.remote_cores = cores}).samples_per_s, 2 * own, 0.1 * own)
      << "nothing is known to cost anything";
  facts.cpu.stages.back().bytes_out = 600e3;
  facts.memory.cores = cores;
  // Two copies at either end, which take a core 0.12 of a second for what it makes in a second.
  const double core_per_s = predict(facts, {.remote_cores = cores}).samples_per_s / (2 * cores);
  facts.memory.copy_bytes_per_s = figure(cores * 2 * 600e3 * core_per_s / 0.12, 0);
  facts.memory.copied_bytes = 1;
  EXPECT_NEAR(predict(facts, {.remote_cores = cores}).samples_per_s / (cores * core_per_s), 1 / 1.12 + 1 - 0.12 / 1.12,
              0.03);
  EXPECT_EQ(bottleneck(facts, {.remote_cores = cores}), Limiter::kCpuDecode);
  facts.machine.network_bytes_per_s = 600e3 * core_per_s;  // as much as one of them makes
  const Prediction narrow = predict(facts, {.remote_cores = 8 * cores});
  EXPECT_EQ(narrow.bottleneck().limiter, Limiter::kNetwork);
  EXPECT_NEAR(narrow.samples_per_s / core_per_s, cores + 1, 0.1);
  EXPECT_THAT(narrow.assumptions, testing::Contains(HasSubstr("other machines")));
  const NetworkClass wide{.name = "wide", .bytes_per_s = 600e3 * 1000 * core_per_s};
  EXPECT_GT(predict(facts, {.remote_cores = 8 * cores, .network = wide}).samples_per_s, 3 * narrow.samples_per_s);
}

TEST(Predict, SmallFilesOnATurningDiskAreHeldByRequests) {
  const Facts facts = small_files_facts();
  const Prediction now = predict(facts), packed = predict(facts, {.layout = "packed"});
  EXPECT_EQ(now.bottleneck().limiter, Limiter::kStorageRequests);
  EXPECT_LT(now.first_epoch_samples_per_s, 0.6 * packed.first_epoch_samples_per_s);  // nothing is opened any more
  EXPECT_EQ(bottleneck(facts, {.disk = DiskClass{"nvme", 6e9, 600e3, 90e-6}}), Limiter::kStep);
}

TEST(Predict, ReadsInLargePiecesAreHeldByTheBandwidth) {
  Facts facts = small_files_facts();
  facts.data.layout = "packed";
  facts.data.requests = 0.01;
  facts.storage->cold.push_back({1'000'000, 64, figure(160), {}});
  EXPECT_EQ(bottleneck(facts), Limiter::kStorageBandwidth);
  EXPECT_NEAR(rate_of(predict(facts), Limiter::kStorageBandwidth) * predict(facts).miss_share, 160e6 / 110e3, 60);
  facts.storage->limit_reads_per_s = 160e6 / (128 << 10);  // which is why no more came in order
  EXPECT_EQ(bottleneck(facts), Limiter::kStorageRequests);
}

TEST(Predict, AStoreIsHeldByLatencyUntilMoreIsReadAtATime) {
  Facts facts = object_store_facts();
  facts.run.io_depth = 16;
  const Prediction prediction = predict(facts);
  EXPECT_EQ(prediction.bottleneck().limiter, Limiter::kStorageRequests);
  EXPECT_NEAR(rate_of(prediction, Limiter::kStorageRequests), 16 / (30e-3 + 110e3 / 90e6), 1);
  EXPECT_NEAR(rate_of(predict(facts, {.io_depth = 64}), Limiter::kStorageRequests), 64 / (30e-3 + 110e3 / 90e6), 1);
  // The transport makes no more requests at once.
  EXPECT_NEAR(rate_of(predict(facts, {.io_depth = 256}), Limiter::kStorageRequests), 64 / (30e-3 + 110e3 / 90e6), 1);
  EXPECT_GT(rate_of(predict(facts, {.order = "windowed"}), Limiter::kStorageRequests),
            4 * rate_of(prediction, Limiter::kStorageRequests));
}

TEST(Predict, FetchingFromAStoreTakesTimeOfTheCores) {
  Facts facts = object_store_facts();
  facts.data.read_bytes = 110e3;
  facts.data.requests = 2;
  const Prediction before = predict(facts);
  facts.store->cpu_s_per_request = figure(10e-6);
  facts.store->cpu_s_per_byte = figure(0.4e-9);
  const double fetch_s = before.miss_share * (2 * 10e-6 + 110e3 * 0.4e-9);
  EXPECT_NEAR(rate_of(before, Limiter::kCpuDecode) / rate_of(predict(facts), Limiter::kCpuDecode),
              1 + fetch_s / facts.cpu.total_s(), 1e-6);
}

TEST(Predict, SmallBatchesReadFewSamplesAtATime) {
  Facts facts = small_memory_facts();
  facts.run.direct = true;
  facts.run.cache = "none";
  facts.run.batch = facts.step.batch = 1;
  facts.run.prefetch = 1;
  const double one_at_a_time = 1 / (150e-6 + 110e3 / 0.53e9), four_at_a_time = 0.53e9 / 110e3;
  EXPECT_NEAR(rate_of(predict(facts), Limiter::kStorageBandwidth), std::sqrt(one_at_a_time * four_at_a_time), 5);
  EXPECT_NEAR(rate_of(predict(facts, {.prefetch = 64}), Limiter::kStorageBandwidth), four_at_a_time, 5);
}

TEST(Predict, EightGpusShareANic) {
  const Facts facts = eight_gpus_facts();
  const Prediction prediction = predict(facts);
  EXPECT_EQ(prediction.bottleneck().limiter, Limiter::kNetwork);
  EXPECT_NEAR(prediction.samples_per_s, 1.1e9 / 110e3, 500);
  EXPECT_NEAR(prediction.samples_per_s_needed, 8 * 2560, 1e-6);
  EXPECT_GT(prediction.gpu_idle, 0.45);
  const Prediction faster = predict(facts, {.network = NetworkClass{"25g", 25e9 / 8, {}}});
  EXPECT_NE(faster.bottleneck().limiter, Limiter::kNetwork);
  EXPECT_GT(faster.samples_per_s, 1.75 * prediction.samples_per_s);
}

TEST(Predict, NodesShareWhatIsNotTheirOwn) {
  Facts facts = object_store_facts();
  facts.store->link_bytes_per_s = figure(0.3e9);  // far from filling the NIC: the store's own
  EXPECT_NEAR(rate_of(predict(facts, {.nodes = 4}), Limiter::kNetwork), rate_of(predict(facts), Limiter::kNetwork) / 4,
              1);
  facts.store->link_bytes_per_s = figure(1.1e9);
  EXPECT_NEAR(rate_of(predict(facts, {.nodes = 4}), Limiter::kNetwork), rate_of(predict(facts), Limiter::kNetwork), 1);
  EXPECT_NEAR(predict(healthy_facts(), {.nodes = 4}).samples_per_s, predict(healthy_facts()).samples_per_s, 1);
}

TEST(Predict, AKeptCacheMixesTimesAndNotRates) {
  const Facts facts = small_memory_facts();
  const Prediction prediction = predict(facts);
  const double kept = 45.0 * kGiB / facts.data.bytes;
  EXPECT_NEAR(prediction.miss_share, 1 - kept, 0.05);
  const Prediction none = predict(facts, {.cache = "none"});
  EXPECT_GT(none.miss_share, 0.8);
  EXPECT_NEAR(rate_of(prediction, Limiter::kStorageBandwidth) * prediction.miss_share, 0.53e9 / facts.data.read_bytes,
              200);
  EXPECT_LT(prediction.first_epoch_samples_per_s, 0.8 * prediction.samples_per_s);
}

TEST(Predict, DirectReadsNeverFindPages) {
  Facts facts = healthy_facts();
  EXPECT_EQ(predict(facts).miss_share, 0);
  facts.run.direct = true;
  EXPECT_EQ(predict(facts).miss_share, 1);
  facts.data.layout = "loose";
  EXPECT_EQ(predict(facts).miss_share, 0) << "shards are read past the page cache, files are not";
}

TEST(Predict, DirectReadsFindEntryPointsInThePageCache) {
  Facts facts = small_memory_facts();
  const double by_pages = rate_of(predict(facts), Limiter::kStorageBandwidth);
  facts.run.direct = true;
  const Prediction apart = predict(facts, {.cache = "none"});
  facts.data.requests += 1;
  facts.data.read_bytes += 4000;
  facts.data.index_requests = 1;
  facts.data.index_bytes = 4000;
  EXPECT_NEAR(predict(facts, {.cache = "none"}).samples_per_s, apart.samples_per_s, 1e-6 * apart.samples_per_s);
  facts.run.direct = false;
  EXPECT_LT(rate_of(predict(facts), Limiter::kStorageBandwidth), 0.99 * by_pages) << "they are samples as others are";
}

TEST(Predict, AnotherOrderReadsWhatWasWorkedOutForIt) {
  Facts facts = object_store_facts();
  const double by_rule = predict(facts, {.order = "windowed"}).samples_per_s;
  EXPECT_GT(by_rule, 1.1 * predict(facts).samples_per_s);
  // Windows that are never read together.
  facts.data.other_orders = {{"windowed", facts.data.read_bytes, facts.data.requests, 0, 0}};
  EXPECT_NEAR(predict(facts, {.order = "windowed"}).samples_per_s, predict(facts).samples_per_s, 1e-6);
  facts.data.other_orders[0].requests /= 10;
  EXPECT_NEAR(predict(facts, {.order = "windowed"}).samples_per_s, by_rule, 1e-6);
}

TEST(Predict, MemoryGrowsWithTheCoresOfAMachine) {
  Facts facts = small_memory_facts();
  const auto of_memory = [&](double cores) { return rate_of(predict(facts, {.cores = cores}), Limiter::kMemory); };
  const double cores = facts.machine.cores;
  facts.memory.cores = cores;
  EXPECT_NEAR(of_memory(4 * cores) / of_memory(cores), 4, 1e-6);
  EXPECT_NEAR(of_memory(cores / 2) / of_memory(cores), 1, 1e-6);
  // A quota leaves a part of the time of more cores, whose memory it does not hold back.
  facts.memory.cores = 4 * cores;
  EXPECT_NEAR(of_memory(4 * cores) / of_memory(cores), 1, 1e-6);
}

TEST(Predict, AFileSystemInMemoryIsReadWarm) {
  Facts facts = small_files_facts();
  facts.storage->device_class = "memory";
  facts.storage->cold.clear();
  facts.storage->cold_bytes_per_s = {};
  const Prediction prediction = predict(facts);
  EXPECT_EQ(prediction.miss_share, 0);
  EXPECT_EQ(prediction.bottleneck().limiter, Limiter::kStep);
  EXPECT_NEAR(prediction.first_epoch_samples_per_s, prediction.samples_per_s, 1);
}

TEST(Predict, TellsWhatItTookForThePageCache) {
  Facts facts = healthy_facts();
  facts.machine.memory_bytes = 100 * kGiB;
  const Prediction prediction = predict(facts);
  EXPECT_GT(prediction.miss_share, 0.3);
  EXPECT_LT(prediction.miss_share, 0.9);
  EXPECT_THAT(prediction.assumptions, testing::Contains(HasSubstr("page cache")));
  EXPECT_LT(predict(facts, {.memory_bytes = 400 * kGiB}).miss_share, 0.01);
}

TEST(Predict, DecodedDataNeedNoDecoding) {
  const Facts facts = few_cores_facts();
  const Prediction decoded = predict(facts, {.memory_bytes = 64 * kGiB, .cache = "decoded"});
  EXPECT_GT(decoded.samples_per_s, 5 * predict(facts).samples_per_s);
  EXPECT_NE(decoded.bottleneck().limiter, Limiter::kCpuDecode);
}

TEST(Predict, ATransferIndexMovesWorkToTheGpu) {
  Facts facts = few_cores_facts();
  facts.copy.device_s[0] = 400e-6;
  const Prediction prediction = predict(facts, {.transfer_index = 0});
  EXPECT_GT(prediction.samples_per_s, 5 * predict(facts).samples_per_s);
  EXPECT_GT(rate_of(prediction, Limiter::kCopy), 25e9 / 110e3 - 1);
  EXPECT_LT(rate_of(prediction, Limiter::kStep), rate_of(predict(facts), Limiter::kStep));  // the GPU is not free
}

TEST(Predict, ThreadsFollowTheCoresIfAllWereUsed) {
  Facts facts = few_cores_facts();
  EXPECT_NEAR(predict(facts, {.cores = 4}).samples_per_s, 2 * predict(facts).samples_per_s, 8);
  EXPECT_NEAR(predict(facts, {.threads = 1}).samples_per_s, 44, 2);
  facts.run.threads = 1;
  EXPECT_NEAR(predict(facts, {.cores = 4}).samples_per_s, predict(facts).samples_per_s, 2);
}

TEST(Predict, MoreGpusTakeMoreAndShareTheRest) {
  const Facts facts = heavy_recipe_facts();
  const Prediction one = predict(facts), four = predict(facts, {.gpus = 4});
  EXPECT_NEAR(four.samples_per_s_needed, 4 * one.samples_per_s_needed, 1e-6);
  EXPECT_NEAR(four.samples_per_s, one.samples_per_s, 0.05 * one.samples_per_s);
  EXPECT_GT(four.gpu_idle, 0.7);
}

TEST(Predict, AFasterGpuNeedsMore) {
  const Facts facts = healthy_facts();
  const Prediction faster = predict(facts, {.gpu = GpuClass{"b200", 2, 0}});
  EXPECT_NEAR(faster.samples_per_s_needed, 2 * 2560, 1e-6);
  EXPECT_NEAR(predict(facts, {.batch = 512}).samples_per_s_needed, 2560, 1e-6);
  EXPECT_NEAR(predict(facts, {.step_s = 0.05}).samples_per_s_needed, 5120, 1e-6);
}

TEST(Predict, SlowSamplesMakeGpusWaitThoughTheMeansWouldDo) {
  Facts facts = healthy_facts();
  facts.machine.cores = 8;
  facts.run.threads = 8;
  facts.run.batch = facts.step.batch = 4;
  facts.run.prefetch = 1;
  facts.cpu.scaling = {{1, figure(1 / facts.cpu.total_s())}, {8, figure(8 / facts.cpu.total_s())}};
  facts.cpu.sample_s.assign(100, 1e-3);  // one sample of a hundred takes fifty times as long
  facts.cpu.sample_s.back() = 100e-3;
  facts.step.seconds = figure(1.1 * 4 * facts.cpu.total_s() / 8, 0.01);
  const Prediction prediction = predict(facts);
  EXPECT_EQ(prediction.bottleneck().limiter, Limiter::kStep);
  EXPECT_GT(prediction.gpu_idle, 0.1);
  EXPECT_LT(predict(facts, {.prefetch = 64}).gpu_idle, prediction.gpu_idle / 2);
}

TEST(Predict, ErrorsAreThoseOfWhatLimits) {
  Facts facts = few_cores_facts();
  facts.storage->cold.clear();
  facts.storage->cold_bytes_per_s = figure(6e9, 0.9);  // of no importance
  const double calm = predict(facts).error;
  EXPECT_LT(calm, 0.05);
  facts.cpu.scaling = {{1, figure(44, 0.2)}, {2, figure(87, 0.2)}};
  EXPECT_NEAR(predict(facts).error, 0.2, 0.03);
  EXPECT_GT(predict(facts, {.cores = 12}).error, predict(facts, {.cores = 4}).error);
}

TEST(Predict, NothingTrainingNeedsNothing) {
  Facts facts = few_cores_facts();
  facts.step = {};
  const Prediction prediction = predict(facts);
  EXPECT_EQ(prediction.samples_per_s_needed, 0);
  EXPECT_EQ(prediction.gpu_idle, 0);
  EXPECT_NEAR(prediction.samples_per_s, 87, 3);
}

TEST(Predict, WithoutFiguresNothingLimits) {
  const Prediction prediction = predict(Facts{});
  ASSERT_FALSE(prediction.limits.empty());
  EXPECT_EQ(prediction.gpu_idle, 0);
}

TEST(Predict, CoresThatHaveNoSampleSlowNothing) {
  for (Facts facts : {few_cores_facts(), healthy_facts(), heavy_recipe_facts()}) {
    facts.step.batch = facts.run.batch = 16;
    facts.step.seconds = figure(1e-4);
    double before = 0;
    for (int cores = 1; cores <= 100'000; cores = std::min(2 * cores, cores < 100'000 ? 100'000 : 200'000)) {
      const double rate = predict(facts, {.cores = cores}).samples_per_s;
      EXPECT_GE(rate, 0.97 * before) << cores;
      before = std::max(before, rate);
    }
    EXPECT_GE(predict(facts, {.remote_cores = 100'000}).samples_per_s, 0.97 * predict(facts).samples_per_s);
  }
}

}  // namespace
}  // namespace stoker
