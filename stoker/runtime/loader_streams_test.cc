// Batches that a GPU makes: handed on while it is at work, used by the streams of consumers, and their memory not used
// again before those are done.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <thread>

#include "stoker/base/clock.h"
#include "stoker/base/error_testing.h"
#include "stoker/plan/device_batch.h"
#include "stoker/runtime/held_device_testing.h"
#include "stoker/runtime/loader_testing.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

constexpr DeviceStream kTraining = 7, kSide = 8;

class LoaderStreams : public ::testing::Test {
 protected:
  LoaderOptions options(int transfer_index = 0) const {
    return {.batch = 7, .threads = 2, .device = device, .transfer_index = transfer_index};
  }
  std::vector<std::string> want() const {
    Loader loader(data.dataset, small_recipe(), {.batch = 7, .threads = 2});
    return audit_of(loader, 2);
  }

  const MemoryDataset data = memory_dataset();
  const std::shared_ptr<HeldDevice> device = std::make_shared<HeldDevice>();
};

TEST_F(LoaderStreams, AuditsAreTheHosts) {
  for (int index = 0; index <= kTransferIndexMax; ++index) {
    Loader loader(data.dataset, small_recipe(), options(index));
    EXPECT_EQ(audit_of(loader, 2), want()) << "transfer index " << index;
  }
}

TEST_F(LoaderStreams, ABatchComesWhileTheDeviceIsAtWorkOnIt) {
  Loader loader(data.dataset, small_recipe(), options());
  device->hold();
  loader.start_epoch(0);
  const BatchPtr batch = loader.next();  // does not wait
  EXPECT_EQ(batch->gpu(), 0);
  batch->wait_on(kTraining);
  batch->wait_on(kTraining);
  EXPECT_EQ(device->waits(kTraining), 2);
  std::thread other([&] { device->go_on(); });
  std::vector<std::string> first = audit_of(*batch);  // waits
  other.join();
  const std::vector<std::string> all = want();
  EXPECT_EQ(first, std::vector<std::string>(all.begin(), all.begin() + 7));
}

TEST_F(LoaderStreams, AStepIsTimedFromTakingABatchToLettingGoOfIt) {
  LoaderOptions options = this->options();
  options.prefetch = 1;
  Loader loader(data.dataset, small_recipe(), options);
  std::vector<std::int64_t> least, most;  // of each step
  loader.start_epoch(0);
  for (int step = 0; step < 7; ++step) {
    BatchPtr batch = loader.next();
    device->occupy(kTraining);
    batch->wait_on(kTraining);
    const std::int64_t before = now_ns();
    device->finish(kTraining);  // reaches the batch
    const std::int64_t after = now_ns();
    device->occupy(kTraining);
    batch.reset();
    least.push_back(now_ns() - after);
    device->finish(kTraining);  // is done with it
    most.push_back(now_ns() - before);
  }
  const Metrics metrics = loader.metrics();
  const auto steps = static_cast<std::ptrdiff_t>(metrics[Metric::kConsumerDeviceSteps]);
  EXPECT_GE(steps, 4) << "of seven, in three pieces of memory";
  ASSERT_LE(steps, 7);
  std::sort(least.begin(), least.end());
  std::sort(most.rbegin(), most.rend());
  EXPECT_GE(metrics[Metric::kConsumerDeviceStepNs],
            std::accumulate(least.begin(), least.begin() + steps, std::int64_t{0}));
  EXPECT_LE(metrics[Metric::kConsumerDeviceStepNs],
            std::accumulate(most.begin(), most.begin() + steps, std::int64_t{0}));
}

TEST_F(LoaderStreams, AtMostTwoComeBeforeTheyAreDone) {
  LoaderOptions options = this->options();
  options.prefetch = 4;
  Loader loader(data.dataset, small_recipe(), options);
  device->hold();
  loader.start_epoch(0);
  const BatchPtr first = loader.next(), second = loader.next();
  EXPECT_EQ(loader.next_within(std::chrono::milliseconds(20)), std::nullopt);
  device->go_on();
  EXPECT_EQ(loader.next()->index, 2);
}

TEST_F(LoaderStreams, MemoryIsNotUsedAgainBeforeEveryStreamIsDone) {
  for (int index = 0; index <= kTransferIndexMax; ++index) {
    LoaderOptions options = this->options(index);
    options.prefetch = 1;
    Loader loader(data.dataset, small_recipe(), options);
    device->occupy(kTraining);
    device->occupy(kSide);
    loader.start_epoch(0);
    BatchPtr batch = loader.next();
    batch->wait_on(kTraining);
    batch->record_stream(kSide);
    const TensorView image = batch->output("image");
    std::vector<std::uint8_t> room;
    const Bytes bytes = batch->host_bytes(0, room);
    const std::vector<std::uint8_t> before(bytes.begin(), bytes.end());
    std::vector<std::string> got = audit_of(*batch);
    batch.reset();

    // The batch that takes the memory next is held up, wherever it comes in the epoch; everything else goes on.
    std::atomic<bool> over = false;
    std::thread consumer([&] {
      while (const BatchPtr next = loader.next()) {
        for (std::string& line : audit_of(*next)) got.push_back(std::move(line));
      }
      over = true;
    });
    while (device->waiting() == 0 && !over) std::this_thread::yield();
    EXPECT_FALSE(over) << "nothing was held up";
    EXPECT_EQ(std::memcmp(image.data, before.data(), before.size()), 0) << "transfer index " << index;
    device->finish(kTraining);
    EXPECT_GT(device->waiting(), 0) << "the other stream is not done";
    EXPECT_EQ(std::memcmp(image.data, before.data(), before.size()), 0) << "transfer index " << index;
    device->finish(kSide);
    consumer.join();
    std::vector<std::string> first_epoch = want();
    first_epoch.resize(first_epoch.size() / 2);
    EXPECT_EQ(got, first_epoch);
  }
}

// The coded bytes of a batch's first coded image, before they are copied.
void damage(const DeviceTask& task) {
  const auto staged = [&](const void* place) -> std::uint8_t* {
    const auto* const at = static_cast<const std::uint8_t*>(place);
    for (const DeviceCopy& copy : task.copies_in) {
      if (copy.from && copy.to <= at && at < copy.to + copy.bytes) {
        return const_cast<std::uint8_t*>(copy.from) + (at - copy.to);
      }
    }
    ADD_FAILURE() << "it is not copied";
    return nullptr;
  };
  ASSERT_EQ(task.launches.front().kernel, DeviceKernels::number<DeviceJpegKernel>());
  DeviceJpegKernel::Args args;
  std::memcpy(&args, task.launches.front().args.data(), sizeof(args));
  const auto* const image = reinterpret_cast<const DeviceJpegImage*>(staged(args.images));
  std::memset(staged(args.memory + image->data), 0xFF, image->data_bytes);
}

TEST_F(LoaderStreams, AFaultThatIsFoundLateIsToldAtTheNextBatchOrTheEnd) {
  const MemoryDataset indexed = memory_dataset({.samples = 14, .indexed = true});
  const Recipe recipe = Recipe().decode().resize(64, 64).normalize("imagenet");  // with room for coded images
  std::vector<std::vector<std::string>> keys;                                    // of each batch
  Loader sound(indexed.dataset, recipe, options());
  for (const BatchPtr& batch : sound.epoch(0)) keys.push_back(batch->key);
  sound.close();
  for (const int damaged : {0, 1}) {
    LoaderOptions options = this->options();
    options.epochs_end = 1;
    int task_number = 0;
    device->before_running([&](const DeviceTask& task) {
      if (task_number++ == damaged) damage(task);
    });
    Loader loader(indexed.dataset, recipe, options);
    device->hold();
    loader.start_epoch(0);
    EXPECT_EQ(loader.next()->size(), 7);
    EXPECT_EQ(loader.next()->size(), 7) << "nothing is known of either";
    device->go_on();
    const Error error = error_of([&] { loader.next(); });
    EXPECT_EQ(error.kind(), ErrorKind::kIo);
    EXPECT_THAT(error.message(), HasSubstr("held:0 found its coded data damaged"));
    const auto& its_keys = keys[static_cast<std::size_t>(damaged)];
    EXPECT_TRUE(std::any_of(its_keys.begin(), its_keys.end(), [&](const std::string& key) {
      return error.message().find(fmt::format("'{}'", key)) != std::string::npos;
    })) << error.message();
    EXPECT_EQ(error_of([&] { loader.next(); }).kind(), ErrorKind::kIo) << "a failed epoch stays failed";
  }
}

TEST_F(LoaderStreams, AFaultThatIsFoundWhileMemoryIsShortFailsTheEpochToo) {
  const MemoryDataset indexed = memory_dataset({.samples = 28, .indexed = true});
  const Recipe recipe = Recipe().decode().resize(64, 64).normalize("imagenet");
  LoaderOptions options = this->options();
  options.prefetch = 1;
  options.device_memory = device_memory_bytes_min(*indexed.dataset, recipe, options);  // two batches
  int task_number = 0;
  device->before_running([&](const DeviceTask& task) {
    if (task_number++ == 0) damage(task);
  });
  Loader loader(indexed.dataset, recipe, options);
  device->hold();
  loader.start_epoch(0);
  EXPECT_EQ(loader.next()->index, 0);
  EXPECT_EQ(loader.next()->index, 1);
  EXPECT_EQ(loader.next_within(std::chrono::milliseconds(1)), std::nullopt);
  device->go_on();
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(error_of([&] { loader.next(); }).kind(), ErrorKind::kIo) << "call " << again;
  }
  device->before_running(nullptr);
  loader.start_epoch(1);
  EXPECT_EQ(loader.next()->epoch, 1) << "another epoch is as good as ever";
}

TEST_F(LoaderStreams, ItsMemoryHasABudget) {
  const auto refusal = [&](LoaderOptions options) {
    const Error error = error_of([&] {
      Loader loader(data.dataset, small_recipe(), std::move(options));
      loader.start_epoch(0);
      std::vector<BatchPtr> kept;
      for (BatchPtr batch = loader.next(); batch; batch = loader.next()) kept.push_back(std::move(batch));
    });
    EXPECT_EQ(error.kind(), ErrorKind::kMemory);
    return error.message();
  };
  const auto least = [&](int prefetch) {
    LoaderOptions options = this->options();
    options.rank = 0, options.world = 1, options.prefetch = prefetch;
    return device_memory_bytes_min(*data.dataset, small_recipe(), options);
  };
  const std::uint64_t each = least(3) - least(2);
  Loader loader(data.dataset, small_recipe(), options());
  loader.start_epoch(0);
  loader.next();
  loader.close();  // no memory is on its way any more
  EXPECT_EQ(loader.metrics()[Metric::kDeviceBytes], device->allocated());
  EXPECT_GE(device->allocated(), static_cast<std::int64_t>(each));

  LoaderOptions tight = options();
  tight.device_memory = least(2) - 1;
  EXPECT_THAT(refusal(tight), HasSubstr("more device memory"));
  tight.device_memory = least(2) + each;
  EXPECT_THAT(refusal(tight), HasSubstr("the consumer holds 4 batches"));
  EXPECT_THAT(refusal(tight), HasSubstr("the budget of device memory"));
  EXPECT_LE(device->allocated(), static_cast<std::int64_t>(least(2))) << "what was refused holds nothing";
}

TEST_F(LoaderStreams, GoesOnWithTheMemoryThatTheDeviceHas) {
  LoaderOptions options = this->options();
  options.prefetch = 3;
  device->allocations_left = 5;  // two for each batch, and one that they share
  {
    Loader loader(data.dataset, small_recipe(), options);
    EXPECT_EQ(audit_of(loader, 2), want());
    std::vector<BatchPtr> kept;
    loader.start_epoch(2);
    const Error error = error_of([&] {
      for (BatchPtr batch = loader.next(); batch; batch = loader.next()) kept.push_back(std::move(batch));
    });
    EXPECT_EQ(error.kind(), ErrorKind::kMemory);
    EXPECT_THAT(error.message(), HasSubstr("the device has no memory left"));
    EXPECT_EQ(kept.size(), 2U);
  }
  EXPECT_EQ(device->allocated(), 0);
}

TEST_F(LoaderStreams, BatchesOutliveTheLoader) {
  BatchPtr batch;
  std::vector<std::string> lines;
  {
    Loader loader(data.dataset, small_recipe(), options());
    loader.start_epoch(0);
    batch = loader.next();
    lines = audit_of(*batch);
    batch->wait_on(kTraining);
  }
  EXPECT_EQ(audit_of(*batch), lines);
  EXPECT_GT(device->allocated(), 0);
  batch.reset();
  EXPECT_EQ(device->allocated(), 0);
}

TEST_F(LoaderStreams, WaitingForTheDeviceEndsWithAnInterrupt) {
  Loader loader(data.dataset, small_recipe(), options());
  device->hold();
  loader.start_epoch(0);
  const BatchPtr first = loader.next(), second = loader.next();
  std::thread other([&] { loader.interrupt(); });
  EXPECT_EQ(error_of([&] { loader.next(); }).kind(), ErrorKind::kClosed);
  other.join();
  device->go_on();
}

}  // namespace
}  // namespace stoker
