// Loaders whose stages are split between the host and a device: emulated, unless the environment names a GPU.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "stoker/base/clock.h"
#include "stoker/base/error_testing.h"
#include "stoker/base/watchdog_testing.h"
#include "stoker/device/device_testing.h"
#include "stoker/plan/device_batch.h"
#include "stoker/runtime/loader_testing.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

LoaderOptions options_on(const std::string& device, std::optional<int> transfer_index = {}) {
  return {.batch = 7, .threads = 2, .device = open_device(device), .transfer_index = transfer_index};
}

std::vector<std::string> audit_on(const MemoryDataset& data, LoaderOptions options,
                                  const Recipe& recipe = small_recipe()) {
  Loader loader(data.dataset, recipe, std::move(options));
  return audit_of(loader, 2);
}

TEST(LoaderDevice, AuditsAreTheSameAtEveryIndex) {
  const MemoryDataset data = memory_dataset({.bad = {3, 4, 20}});
  for (const BadSlotPolicy policy : {BadSlotPolicy::kSubstitute, BadSlotPolicy::kSkip}) {
    for (const Tail tail : {Tail::kPad, Tail::kKeep}) {
      LoaderOptions alone{.batch = 7, .threads = 2, .tail = tail, .bad_sample = policy};
      const std::vector<std::string> want = audit_on(data, alone);
      ASSERT_GE(want.size(), 2 * 46U);
      for (int index = 0; index <= kTransferIndexMax; ++index) {
        LoaderOptions options = options_on(test_device_name(), index);
        options.tail = tail;
        options.bad_sample = policy;
        EXPECT_EQ(audit_on(data, options), want) << "transfer index " << index;
      }
    }
  }
}

// Of whole batches, padding included: what an audit leaves out.
TEST(LoaderDevice, PaddingIsTheSameAtEveryIndex) {
  const MemoryDataset data = memory_dataset({.samples = 10, .bad = {4}});
  const auto last_batch = [&](LoaderOptions options) {
    options.tail = Tail::kPad;
    options.bad_sample = BadSlotPolicy::kSkip;
    options.order = OrderKind::kNone;
    Loader loader(data.dataset, small_recipe(), options);
    std::vector<std::vector<std::uint8_t>> outputs;
    for (const BatchPtr& batch : loader.epoch(0)) {
      for (std::size_t output = 0; output < 2; ++output) {
        std::vector<std::uint8_t> room;
        const Bytes bytes = batch->host_bytes(output, room);
        outputs.emplace_back(bytes.begin(), bytes.end());
      }
    }
    return outputs;
  };
  const auto want = last_batch({.batch = 7, .threads = 2});
  ASSERT_EQ(want.size(), 4u);
  std::vector<std::int64_t> labels(7);
  std::memcpy(labels.data(), want[3].data(), want[3].size());
  EXPECT_THAT(labels, ::testing::ElementsAre(0, 1, 2, -100, -100, -100, -100));
  std::memcpy(labels.data(), want[1].data(), want[1].size());
  EXPECT_THAT(labels, ::testing::ElementsAre(0, 1, 2, 3, -100, 5, 6)) << "the bad one is padding, too";
  for (int index = 0; index <= kTransferIndexMax; ++index) {
    EXPECT_EQ(last_batch(options_on(test_device_name(), index)), want) << "transfer index " << index;
  }
}

TEST(LoaderDevice, AuditsOfImagesThatAreDecodedThereAreTheSame) {
  const MemoryDataset data = memory_dataset({.width = 90, .height = 70, .bad = {7}, .indexed = true});
  const Recipe recipe = Recipe().decode().random_resized_crop(64).random_flip().normalize("imagenet").cast("f16");
  const std::vector<std::string> want = audit_on(data, {.batch = 7, .threads = 2}, recipe);
  for (int index = 0; index <= kTransferIndexMax; ++index) {
    Loader loader(data.dataset, recipe, options_on(test_device_name(), index));
    EXPECT_EQ(audit_of(loader, 2), want) << "transfer index " << index;
    EXPECT_GE(loader.metrics()[Metric::kEntryPointsUsed], 2 * 49);
  }
}

// Each option that has to do with where bytes, orders or slots come from.
TEST(LoaderDevice, AuditsAreTheSameWhateverElseIsAskedFor) {
  const MemoryDataset data = memory_dataset({.width = 90, .height = 70, .bad = {7, 30}, .indexed = true});
  const Recipe recipe = Recipe().decode().random_resized_crop(64).random_flip().normalize("imagenet").cast("f16");
  const LoaderOptions usual{.batch = 7, .seed = 3, .threads = 2};
  std::vector<LoaderOptions> all(8, usual);
  all[0].cache = CacheKind::kRam;
  all[1].order = OrderKind::kWindowed, all[1].window = 10, all[1].lanes = 7;
  all[2].order = OrderKind::kNone, all[2].tail = Tail::kPad;
  all[3].repeats = 3;
  all[4].rank = 1, all[4].world = 2, all[4].tail = Tail::kWrap;
  all[5].prefetch = 1, all[5].threads = 1;
  all[6].bad_sample = BadSlotPolicy::kSkip, all[6].prefetch = 5, all[6].threads = 4;
  all[7].batch_repeats = 4, all[7].batch = 8;
  for (std::size_t number = 0; number < all.size(); ++number) {
    LoaderOptions options = all[number];
    const std::vector<std::string> want = audit_on(data, options, recipe);
    for (int index = 0; index <= kTransferIndexMax; ++index) {
      options.device = open_test_device();
      options.transfer_index = index;
      EXPECT_EQ(audit_on(data, options, recipe), want) << "options " << number << ", transfer index " << index;
    }
  }
}

TEST(LoaderDevice, AStateGoesOnAtAnyIndex) {
  const MemoryDataset data = memory_dataset({.indexed = true});
  const std::vector<std::string> want = audit_on(data, {.batch = 7, .threads = 2});
  for (int index = 0; index <= kTransferIndexMax; ++index) {
    Loader first(data.dataset, small_recipe(), options_on(test_device_name(), kTransferIndexMax - index));
    first.start_epoch(0);
    std::vector<std::string> got;
    for (int batch = 0; batch < 3; ++batch) {
      for (std::string& line : audit_of(*first.next())) got.push_back(std::move(line));
    }
    Loader second(data.dataset, small_recipe(), options_on(test_device_name(), index));
    second.load_state(first.state());
    while (const BatchPtr batch = second.next()) {
      for (std::string& line : audit_of(*batch)) got.push_back(std::move(line));
    }
    EXPECT_EQ(got, std::vector<std::string>(want.begin(), want.begin() + static_cast<std::ptrdiff_t>(want.size() / 2)));
  }
}

TEST(LoaderDevice, SeveralViewsOfBadSamplesAreFilledAgain) {
  // Some of these are bad by their second image alone.
  const MemoryDataset data = memory_dataset({.bad = {1, 9, 10, 30}});
  Recipe recipe = small_recipe();
  recipe.view("small").decode().resize(9, 11).cast("u8").view("faithful").decode("faithful").random_crop(8);
  const std::vector<std::string> want = audit_on(data, {.batch = 7, .threads = 2}, recipe);
  for (int index = 0; index <= kTransferIndexMax; ++index) {
    EXPECT_EQ(audit_on(data, options_on(test_device_name(), index), recipe), want) << "transfer index " << index;
  }
}

TEST(LoaderDevice, OperatorsOnPicturesMakeTheSameBatchesOnBothSides) {
  const MemoryDataset data = memory_dataset({.bad = {1, 9, 10, 30}});
  Recipe recipe = Recipe().decode().random_resized_crop(40).random_flip();
  recipe.color_jitter({0.4}, {0.4}, {0.4}, {0.1}).random_grayscale(0.3).gaussian_blur({5}).random_equalize();
  recipe.normalize("imagenet").cast("f16").view("other").decode("faithful").resize(20, 30).random_solarize(99);
  const std::vector<std::string> want = audit_on(data, {.batch = 7, .threads = 1}, recipe);
  EXPECT_EQ(audit_on(data, {.batch = 7, .threads = 3}, recipe), want);
  for (int index = 0; index <= kTransferIndexMax; ++index) {
    EXPECT_EQ(audit_on(data, options_on(test_device_name(), index), recipe), want) << "transfer index " << index;
  }
}

TEST(LoaderDevice, TheIndexMayChangeBetweenBatches) {
  const MemoryDataset data = memory_dataset({.bad = {3}});
  const std::vector<std::string> want = audit_on(data, {.batch = 7, .threads = 2});
  Loader loader(data.dataset, small_recipe(), options_on(test_device_name()));
  EXPECT_EQ(loader.transfer_index(), 0);
  std::vector<std::string> got;
  int batches = 0;
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (const BatchPtr& batch : loader.epoch(epoch)) {
      for (std::string& line : audit_of(*batch)) got.push_back(std::move(line));
      if (++batches % 2 == 0) loader.set({.transfer_index = (loader.transfer_index() + 3) % 4});
    }
  }
  EXPECT_EQ(got, want);
}

TEST(LoaderDevice, WhatCrossesIsCounted) {
  const MemoryDataset data = memory_dataset();
  const Recipe recipe = Recipe().decode().resize(16, 16).normalize("imagenet").cast("f16");  // one output, no label
  const auto bytes_at = [&](int index) {
    Loader loader(data.dataset, recipe, options_on(test_device_name(), index));
    int batches = 0;
    for (const BatchPtr& batch : loader.epoch(0)) batches += batch->size() > 0;
    EXPECT_EQ(batches, 7);
    loader.close();
    return loader.metrics()[Metric::kBytesToDevice] / 7;
  };
  EXPECT_GE(bytes_at(3), 7 * 16 * 16 * 3 * 2);
}

TEST(LoaderDevice, ABudgetForItsMemoryHoldsOnAnEmulatedOneToo) {
  const MemoryDataset data = memory_dataset();
  LoaderOptions options = options_on("emulated:execute", 2);
  options.device_memory = 1000;
  const Error error = error_of([&] { Loader(data.dataset, small_recipe(), options); });
  EXPECT_EQ(error.kind(), ErrorKind::kMemory);
  EXPECT_THAT(error.message(), HasSubstr("of device memory, but the budget leaves 1.00 KB"));
  options = options_on("cpu");
  options.device_memory = 1000;
  EXPECT_EQ(error_of([&] { Loader(data.dataset, small_recipe(), options); }).kind(), ErrorKind::kUsage);
}

TEST(LoaderDevice, ThereIsNoIndexWithoutADevice) {
  const MemoryDataset data = memory_dataset();
  const auto refusal = [&](LoaderOptions options) {
    const Error error = error_of([&] { Loader(data.dataset, small_recipe(), std::move(options)); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.message();
  };
  EXPECT_THAT(refusal(options_on("cpu", 1)), HasSubstr("there is none"));
  EXPECT_THAT(refusal(options_on("emulated:execute", 4)), HasSubstr("it goes from 0 to 3"));
  EXPECT_THAT(error_of([] { open_device("emulated:h10"); }).message(), HasSubstr("did you mean 'h100'"));
  EXPECT_THAT(error_of([] { open_device("gpu"); }).message(), HasSubstr("there is no device 'gpu'"));
}

TEST(LoaderDevice, AModelComputesNothingAndIsNotAudited) {
  const MemoryDataset data = memory_dataset();
  LoaderOptions options = options_on("emulated:h100");
  options.audit = "audit.jsonl";
  EXPECT_THAT(error_of([&] { Loader(data.dataset, small_recipe(), options); }).message(),
              HasSubstr("computes nothing"));
}

TEST(LoaderDevice, AModelIsReadyWhenItsTimeHasCome) {
  const MemoryDataset data = memory_dataset();
  // 42 samples of 7 a batch; every copy and kernel takes 2 ms at least.
  Loader loader(data.dataset, small_recipe(), options_on("emulated:h100,launch=0.002"));
  std::int64_t before = 0;
  for (const BatchPtr& batch : loader.epoch(0)) {
    EXPECT_GE(now_ns(), batch->ready_ns());
    EXPECT_GE(batch->ready_ns(), before + 2'000'000) << "a kernel at least, after those of the one before";
    before = batch->ready_ns();
  }
}

// A worker that hands batches over to a device that is slower than the host always finds another one complete.
TEST(LoaderDevice, AWorkerThatIsNotWantedAnyMoreEndsHoweverSlowTheDevice) {
  Watchdog watchdog;
  const MemoryDataset data = memory_dataset({.width = 200, .height = 150, .indexed = true});
  LoaderOptions options = options_on("emulated:execute", 0);
  options.threads = 4;
  options.prefetch = 6;
  for (int round = 0; round < 10; ++round) {  // in most of them it is not the last worker that does it
    Loader loader(data.dataset, small_recipe(), options);
    std::atomic<bool> done = false;
    std::thread consumer([&] {
      for (std::int64_t epoch = 0; !done; ++epoch) {
        for (const BatchPtr& batch : loader.epoch(epoch)) batch->wait();
      }
    });
    while (loader.metrics()[Metric::kBatches] < 10) std::this_thread::yield();
    loader.set({.threads = 1});
    done = true;
    consumer.join();
  }
}

TEST(LoaderDevice, WaitingForItEndsWithAnInterrupt) {
  const MemoryDataset data = memory_dataset();
  Loader loader(data.dataset, small_recipe(), options_on("emulated:h100,copy=1B/s"));
  loader.start_epoch(0);
  EXPECT_EQ(loader.next_within(std::chrono::milliseconds(1)), std::nullopt);
  std::thread other([&] { loader.interrupt(); });
  EXPECT_EQ(error_of([&] { loader.next(); }).kind(), ErrorKind::kClosed);
  other.join();
}

}  // namespace
}  // namespace stoker
