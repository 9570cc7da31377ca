// Loaders that tune themselves, on this machine and its clock: what must hold however that turns out.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <latch>
#include <memory>
#include <string>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/error_testing.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/device/accelerator.h"
#include "stoker/device/device.h"
#include "stoker/runtime/loader.h"
#include "stoker/runtime/loader_options.h"
#include "stoker/runtime/loader_testing.h"
#include "stoker/runtime/resolved_options.h"
#include "stoker/tuner/tuning_log.h"

namespace stoker {
namespace {

constexpr int kWindows = 2;  // half a second each, about
constexpr double kStepS = 0.005;

std::shared_ptr<const Dataset> small_data() { return memory_dataset({.samples = 400, .indexed = true}).dataset; }

// Epochs from 0 on, until so much was tuned; returns how many. Each step takes its time: where all goes in no time at
// all, and by chance, windows are long.
int train(
    Loader& loader, std::size_t windows, const std::function<void(const Batch&)>& step = [](const Batch&) {}) {
  EmulatedAccelerator accelerator(kStepS);
  int epochs = 0;
  while (loader.tuning().moves.size() < windows) {
    for (const BatchPtr& batch : loader.epoch(epochs)) {
      step(*batch);
      accelerator.step(batch->ready_ns());
    }
    ++epochs;
  }
  return epochs;
}

TEST(LoaderTuning, ChangesNothingInTheBatches) {
  Loader tuned(small_data(), small_recipe(), {.batch = 8});
  std::vector<std::string> lines;
  const int epochs = train(tuned, kWindows, [&](const Batch& batch) {
    for (std::string& line : audit_of(batch)) lines.push_back(std::move(line));
  });
  Loader plain(small_data(), small_recipe(), {.batch = 8, .threads = 1, .prefetch = 1, .tune = TuneMode::kOff});
  EXPECT_TRUE(plain.tuning().moves.empty());
  EXPECT_EQ(lines, audit_of(plain, epochs));
}

TEST(LoaderTuning, FindsItsWayWithADevice) {
  const std::shared_ptr<Device> device = open_device("emulated:h100");
  const std::shared_ptr<const Dataset> data =
      memory_dataset({.samples = 400, .width = 400, .height = 300, .indexed = true}).dataset;
  Loader loader(data, small_recipe(), {.batch = 8, .device = device});
  train(loader, kWindows);
  const TuningLog log = loader.tuning();
  ASSERT_EQ(log.workload.stages.size(), 3u);
  double cpu_s = 0;
  for (const TunedStage& stage : log.workload.stages) {
    EXPECT_TRUE(stage.device_s) << stage.name << " was measured on the device";
    cpu_s += stage.cpu_s;  // one stage alone may seem to cost nothing on a busy machine
  }
  EXPECT_GT(cpu_s, 0);
  EXPECT_GT(log.workload.hand_over.bytes_out, 0);
}

TEST(LoaderTuning, LeavesTheIndexAloneWhereTheDeviceTellsNoTimes) {
  const std::shared_ptr<Device> device = open_device("emulated:execute");
  Loader loader(small_data(), small_recipe(), {.batch = 8, .device = device});
  train(loader, kWindows);
  for (const TuningMove& move : loader.tuning().moves) EXPECT_EQ(move.knobs.transfer_index, 0);
}

TEST(LoaderTuning, LeavesAloneWhatTheUserGaveAndSets) {
  Loader loader(small_data(), small_recipe(), {.batch = 8, .prefetch = 3});
  loader.set({.threads = 1});
  train(loader, kWindows);
  for (const TuningMove& move : loader.tuning().moves) {
    EXPECT_EQ(move.knobs.prefetch, 3);
    EXPECT_EQ(move.knobs.threads, 1);
  }
  EXPECT_EQ(loader.threads(), 1);
  EXPECT_EQ(loader.prefetch(), 3);
}

TEST(LoaderTuning, IsNotThereWhereNothingIsLeftOpen) {
  Loader loader(small_data(), small_recipe(), {.batch = 8, .threads = 1, .prefetch = 1, .io_depth = 4});
  const std::int64_t begin = loader.metrics()[Metric::kBatches];
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (const BatchPtr& batch : loader.epoch(epoch)) EXPECT_TRUE(batch);
  }
  EXPECT_GT(loader.metrics()[Metric::kBatches], begin);
  EXPECT_TRUE(loader.tuning().first_why.empty());
}

TEST(LoaderTuning, KeepsToTheLeastMemoryThatWorks) {
  LoaderOptions options{.batch = 8};
  const std::shared_ptr<const Dataset> data = small_data();
  options.memory = memory_bytes_min(*data, small_recipe(), options);
  Loader loader(data, small_recipe(), options);
  train(loader, kWindows, [&](const Batch&) {
    const Metrics metrics = loader.metrics();
    EXPECT_LE(metrics[Metric::kBatchBytes] + metrics[Metric::kReadAheadBytes],
              static_cast<std::int64_t>(*options.memory));
  });
  for (const TuningMove& move : loader.tuning().moves) EXPECT_LE(move.knobs.prefetch, kPrefetchDefault);
}

TEST(LoaderTuning, TakesNoMemoryToCalibrateInThatBatchesNeed) {
  const std::shared_ptr<Device> device = open_device("emulated:h100");
  LoaderOptions options{.batch = 8, .device = device};
  const std::shared_ptr<const Dataset> data = small_data();
  options.memory = memory_bytes_min(*data, small_recipe(), options);
  options.device_memory = device_memory_bytes_min(*data, small_recipe(), options);
  Loader loader(data, small_recipe(), options);
  train(loader, kWindows);
  for (const TuningMove& move : loader.tuning().moves) EXPECT_EQ(move.knobs.transfer_index, 0);
}

TEST(LoaderTuning, LetsWhoHearsItsNewsCloseTheLoader) {
  std::unique_ptr<Loader> loader;
  std::latch is_there(1);  // the first news may come while the loader is still being made
  std::atomic<bool> closed = false;
  const auto close_it = [&](const TuningMove&) {
    is_there.wait();
    loader->close();
    closed = true;
  };
  loader = std::make_unique<Loader>(small_data(), small_recipe(), LoaderOptions{.batch = 8, .tuned = close_it});
  is_there.count_down();
  EXPECT_EQ(error_of([&] { train(*loader, SIZE_MAX); }).kind(), ErrorKind::kClosed);
  loader->close();
  EXPECT_TRUE(closed);
}

TEST(LoaderTuning, EndsWithTheLoaderAtAnyTime) {
  for (int batches = 0; batches < (kSanitized ? 10 : 40); ++batches) {
    const std::shared_ptr<Device> device = open_device("emulated:h100");
    Loader loader(small_data(), small_recipe(), {.batch = 8, .device = batches % 2 == 0 ? device : nullptr});
    loader.start_epoch(0);
    for (int i = 0; i < batches; ++i) loader.next();
    loader.close();
    EXPECT_TRUE(loader.tuning().moves.empty()) << "that takes longer";
  }
}

TEST(TuneMode, IsOneOfThreeWords) {
  EXPECT_EQ(parse_tune_mode("on"), TuneMode::kOn);
  EXPECT_EQ(parse_tune_mode("once"), TuneMode::kOnce);
  EXPECT_EQ(parse_tune_mode("off"), TuneMode::kOff);
  EXPECT_EQ(error_of([] { parse_tune_mode("sometimes"); }).kind(), ErrorKind::kUsage);
}

Knobs fixed_knobs(const LoaderOptions& options) {
  LoaderOptions with_batch = options;
  with_batch.batch = 8;
  return resolve_sizes(*small_data(), small_recipe(), with_batch).fixed;
}

TEST(FixedKnobs, AreThoseThatTheOptionsName) {
  EXPECT_EQ(fixed_knobs({}).threads, std::nullopt);
  EXPECT_EQ(fixed_knobs({}).prefetch, std::nullopt);
  EXPECT_EQ(fixed_knobs({}).io_depth, std::nullopt);
  EXPECT_EQ(fixed_knobs({}).transfer_index, 3) << "there is no device to do stages after it";
  const Knobs fixed = fixed_knobs({.threads = 4, .prefetch = 2, .io_depth = 8});
  EXPECT_EQ(fixed.threads, 4);
  EXPECT_EQ(fixed.prefetch, 2);
  EXPECT_EQ(fixed.io_depth, 8);
  LoaderOptions device;
  device.device = open_device("emulated:h100");
  EXPECT_EQ(fixed_knobs(device).transfer_index, std::nullopt);
  device.nvjpeg = true;
  EXPECT_EQ(fixed_knobs(device).transfer_index, 0) << "nvJPEG's pixels are its own";
}

}  // namespace
}  // namespace stoker
