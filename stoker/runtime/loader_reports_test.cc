// What a loader says about itself: reports, and the headspace that it measures.
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <thread>

#include "stoker/base/clock.h"
#include "stoker/base/error_testing.h"
#include "stoker/base/user_cache.h"
#include "stoker/base/watchdog_testing.h"
#include "stoker/runtime/loader_testing.h"
#include "stoker/runtime/report/loader_report.h"
#include "stoker/runtime/report/step_record.h"
#include "stoker/storage/temp_folder_testing.h"

namespace stoker {
namespace {

/// The user's cache folder, while it lives: where steps are kept for the doctor.
class StepCache {
 public:
  StepCache() { ::setenv("STOKER_CACHE_DIR", folder_.path().c_str(), 1); }
  ~StepCache() { ::unsetenv("STOKER_CACHE_DIR"); }
  StepCache(const StepCache&) = delete;
  StepCache& operator=(const StepCache&) = delete;

  std::optional<StepRecord> kept_of(const Dataset& data, const Recipe& recipe) const {
    return KeptStep(folder_.path(), {.data = data.fingerprint(), .recipe = recipe.hash()}).load();
  }

 private:
  TempFolder folder_;
};

TEST(LoaderReports, AreOfEpochsAndOfAll) {
  const MemoryDataset data = memory_dataset();
  Loader loader(data.dataset, small_recipe(), {.batch = 10});
  EXPECT_EQ(error_of([&] { loader.report(0); }).kind(), ErrorKind::kUsage);
  EXPECT_TRUE(loader.report().limits.empty());
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (const BatchPtr& batch : loader.epoch(epoch)) EXPECT_EQ(batch->size(), 10);
  }
  const LoaderReport first = loader.report(0), second = loader.report(1), all = loader.report();
  EXPECT_EQ(first.samples, 50);
  EXPECT_EQ(second.samples, 50);
  EXPECT_EQ(all.samples, 100);
  EXPECT_EQ(first.steps + second.steps, 10);
  EXPECT_EQ(second.batch_samples, 10);
  EXPECT_GT(all.samples_per_s(), 0);
  EXPECT_FALSE(second.limits.empty());
  EXPECT_EQ(error_of([&] { loader.report(2); }).kind(), ErrorKind::kUsage);
}

TEST(LoaderReports, TellWhatAWaitWasFor) {
  const Watchdog watchdog;
  const MemoryDataset data = memory_dataset({.faults = {.hold = true}});
  Loader loader(data.dataset, small_recipe(), {.batch = 10, .threads = 1, .epochs_end = 1});
  std::thread consumer([&] {
    for (const BatchPtr& batch : loader.epoch(0)) EXPECT_EQ(batch->size(), 10);
  });
  data.source->wait_until_held(1);
  while (loader.metrics()[Metric::kConsumerWaitReadsNs] == 0) std::this_thread::yield();
  data.source->release_all();
  consumer.join();
  const Metrics metrics = loader.metrics();
  EXPECT_EQ(metrics[Metric::kConsumerWaitReadsNs] + metrics[Metric::kConsumerWaitWorkersNs] +
                metrics[Metric::kConsumerWaitDeviceNs],
            metrics[Metric::kConsumerWaitNs]);
}

// As it is late where others hold the cores.
TEST(LoaderReports, CountWhatAConsumerIsLateAsAWaitOrAsItsStep) {
  constexpr std::int64_t kLateNs = 3'000'000;
  const MemoryDataset data = memory_dataset();
  for (const bool step_goes_on : {false, true}) {
    const auto be_late = [](const LoaderProgress&) {
      for (const std::int64_t until = now_ns() + kLateNs; now_ns() < until;) std::this_thread::yield();
    };
    Loader loader(data.dataset, small_recipe(), {.batch = 10, .step_goes_on = step_goes_on, .progress = be_late});
    int batches = 0;
    for (const BatchPtr& batch : loader.epoch(0)) batches += batch->size() > 0 ? 1 : 0;
    const Metrics metrics = loader.metrics();
    EXPECT_GE(metrics[step_goes_on ? Metric::kConsumerStepNs : Metric::kConsumerWaitNs], batches * kLateNs);
    EXPECT_GE(metrics[Metric::kConsumerWaitWorkersNs], step_goes_on ? 0 : batches * kLateNs);
    EXPECT_GT(batches, 1);
  }
}

TEST(LoaderReports, LeaveTheStepForTheDoctorWhereTrainingEndsWithinAnEpoch) {
  const StepCache cache;
  const MemoryDataset data = memory_dataset();
  {
    Loader loader(data.dataset, small_recipe(), {.batch = 1});
    loader.start_epoch(0);
    for (int step = 0; step < 30; ++step) {
      const BatchPtr batch = loader.next();
      for (const std::int64_t until = now_ns() + 1'000'000; now_ns() < until;) std::this_thread::yield();
    }
  }
  const std::optional<StepRecord> record = cache.kept_of(*data.dataset, small_recipe());
  ASSERT_TRUE(record);
  EXPECT_EQ(record->how, "waits");
  EXPECT_EQ(record->batch, 1);
  EXPECT_GE(record->median_s, 0.001);
}

TEST(Headspace, IsMeasuredWithExtraBatches) {
  const MemoryDataset data = memory_dataset();
  Loader plain(data.dataset, small_recipe(), {.batch = 10});
  const std::vector<std::string> expected = audit_of(plain, 2);

  Loader loader(data.dataset, small_recipe(), {.batch = 10});
  EXPECT_FALSE(loader.report().headspace);
  std::vector<std::string> delivered;
  int again = 0;
  std::string last_state;
  for (int epoch = 0; epoch < 2; ++epoch) {
    const Batch* last = nullptr;
    for (const BatchPtr& batch : loader.epoch(epoch)) {
      if (loader.replays()) {
        ++again;
        EXPECT_EQ(batch.get(), last);
        EXPECT_EQ(loader.state(), last_state);
        continue;
      }
      for (const std::string& line : audit_of(*batch)) delivered.push_back(line);
      last = batch.get();
      last_state = loader.state();
      if (batch->index == 1) loader.headspace(8);
    }
  }
  EXPECT_EQ(delivered, expected);
  EXPECT_EQ(again, 16);
  EXPECT_EQ(loader.metrics()[Metric::kBatches], 10);
  EXPECT_EQ(loader.metrics()[Metric::kSamples], 100);
  EXPECT_EQ(loader.metrics()[Metric::kConsumerSteps], 10);
  ASSERT_TRUE(loader.report().headspace);
  EXPECT_EQ(loader.report().headspace->alone.count, 6) << "without the first quarter";
  EXPECT_GT(loader.report().headspace->with_loading_s, 0);
}

TEST(Headspace, EndsWithItsEpoch) {
  const MemoryDataset data = memory_dataset();
  Loader loader(data.dataset, small_recipe(), {.batch = 10});
  loader.headspace(100);
  loader.start_epoch(0);
  EXPECT_EQ(loader.next()->index, 0);
  EXPECT_EQ(loader.next()->index, 0);
  EXPECT_TRUE(loader.replays());
  loader.start_epoch(0);
  EXPECT_EQ(loader.next()->index, 0);
  EXPECT_FALSE(loader.replays());
  EXPECT_EQ(loader.next()->index, 1);
  EXPECT_FALSE(loader.report().headspace) << "it was not measured to its end";
}

TEST(Headspace, AsksForEnoughSteps) {
  const MemoryDataset data = memory_dataset();
  Loader loader(data.dataset, small_recipe(), {.batch = 10});
  EXPECT_EQ(error_of([&] { loader.headspace(3); }).kind(), ErrorKind::kUsage);
  loader.headspace(4);
  loader.start_epoch(0);
  EXPECT_EQ(loader.next()->size(), 10);
  loader.close();
  EXPECT_EQ(error_of([&] { loader.next(); }).kind(), ErrorKind::kClosed);
  EXPECT_EQ(error_of([&] { loader.headspace(4); }).kind(), ErrorKind::kClosed);
}

TEST(Headspace, LeavesItsStepForTheDoctor) {
  const StepCache cache;
  const MemoryDataset data = memory_dataset();
  Loader loader(data.dataset, small_recipe(), {.batch = 10});
  loader.headspace(4);
  for (const BatchPtr& batch : loader.epoch(0)) EXPECT_EQ(batch->size(), 10);
  const std::optional<StepRecord> record = cache.kept_of(*data.dataset, small_recipe());
  ASSERT_TRUE(record);
  EXPECT_EQ(record->how, "replay");
  EXPECT_EQ(record->batch, 10);
  EXPECT_EQ(record->count, 3);
}

}  // namespace
}  // namespace stoker
