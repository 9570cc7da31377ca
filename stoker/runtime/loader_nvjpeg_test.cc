// Loaders that leave JPEGs to nvJPEG, for which Stoker's decoders stand in on the emulated device: so their pixels are
// the same there, and all around them is tested.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"
#include "stoker/device/forwarding_device_testing.h"
#include "stoker/plan/device_batch.h"
#include "stoker/runtime/loader_testing.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kBatch = 7;

LoaderOptions options_on(std::shared_ptr<Device> device, bool nvjpeg = true) {
  LoaderOptions options{.batch = kBatch, .threads = 2, .device = std::move(device)};
  options.nvjpeg = nvjpeg;
  return options;
}

LoaderOptions emulated(bool nvjpeg = true) { return options_on(open_device("emulated:execute"), nvjpeg); }

// Tensors so large that all images have room in any form.
Recipe recipe() { return Recipe().decode().random_resized_crop(64).random_flip().normalize("imagenet").cast("f16"); }

TEST(LoaderNvjpeg, AuditsOnTheEmulatedDeviceAreTheSameAsWithoutIt) {
  const MemoryDataset data = memory_dataset({.bad = {3, 4, 20}});
  for (const BadSlotPolicy policy : {BadSlotPolicy::kSubstitute, BadSlotPolicy::kSkip}) {
    LoaderOptions alone{.batch = kBatch, .threads = 2, .tail = Tail::kPad, .bad_sample = policy};
    Loader without(data.dataset, recipe(), alone);
    const std::vector<std::string> want = audit_of(without, 2);
    for (int index = 0; index <= kTransferIndexMax; ++index) {
      LoaderOptions options = emulated();
      options.transfer_index = index;
      options.tail = Tail::kPad;
      options.bad_sample = policy;
      Loader loader(data.dataset, recipe(), options);
      EXPECT_EQ(audit_of(loader, 2), want) << "transfer index " << index;
      const std::int64_t left = loader.metrics()[Metric::kNvjpegImages];
      if (index == 0) {
        EXPECT_GE(left, 94);
      } else {
        EXPECT_EQ(left, 0);
      }
    }
  }
}

TEST(LoaderNvjpeg, IsLeftNothingThatHasEntryPoints) {
  const MemoryDataset data = memory_dataset({.indexed = true});
  Loader loader(data.dataset, recipe(), emulated());
  EXPECT_EQ(audit_of(loader, 1).size(), 49U);
  EXPECT_EQ(loader.metrics()[Metric::kNvjpegImages], 0);
  EXPECT_GE(loader.metrics()[Metric::kEntryPointsUsed], 49);
}

TEST(LoaderNvjpeg, IsLeftNoImageThatAnIndexKnowsToBeDamaged) {
  const MemoryDataset data = memory_dataset({.concealed = true});
  Loader loader(data.dataset, recipe(), emulated());
  EXPECT_EQ(audit_of(loader, 1).size(), 49U);
  EXPECT_EQ(loader.metrics()[Metric::kNvjpegImages], 0);
}

TEST(LoaderNvjpeg, TheIndexMayChangeBetweenBatches) {
  const MemoryDataset data = memory_dataset();
  Loader without(data.dataset, recipe(), {.batch = kBatch, .threads = 2});
  const std::vector<std::string> want = audit_of(without, 2);
  Loader loader(data.dataset, recipe(), emulated());
  std::vector<std::string> got;
  int batches = 0;
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (const BatchPtr& batch : loader.epoch(epoch)) {
      for (std::string& line : audit_of(*batch)) got.push_back(std::move(line));
      if (++batches % 2 == 0) loader.set({.transfer_index = loader.transfer_index() == 0 ? kTransferIndexMax : 0});
    }
  }
  EXPECT_EQ(got, want);
}

TEST(LoaderNvjpeg, NeedsADevice) {
  const MemoryDataset data = memory_dataset();
  const Error error = error_of([&] { Loader(data.dataset, recipe(), options_on(nullptr)); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.message(), HasSubstr("there is no device that it decodes on"));
}

// Where there is no library.
class DeviceWithoutNvjpeg final : public ForwardingDevice {
 public:
  void open_nvjpeg() override { fail(ErrorKind::kNotFound, "libnvjpeg is not here"); }
};

TEST(LoaderNvjpeg, OpensItBeforeAnythingIsReadAndOnlyWhereItIsAskedFor) {
  const MemoryDataset data = memory_dataset();
  const auto device = std::make_shared<DeviceWithoutNvjpeg>();
  EXPECT_EQ(error_of([&] { Loader(data.dataset, recipe(), options_on(device)); }).kind(), ErrorKind::kNotFound);
  Loader loader(data.dataset, recipe(), options_on(device, false));
  EXPECT_EQ(audit_of(loader, 1).size(), 49U);
}

TEST(LoaderNvjpeg, AStateIsOfALoaderWithItOrWithout) {
  const MemoryDataset data = memory_dataset();
  Loader with(data.dataset, recipe(), emulated()), without(data.dataset, recipe(), emulated(false));
  with.start_epoch(0);
  with.next();
  const Error one_way = error_of([&] { without.load_state(with.state()); });
  EXPECT_EQ(one_way.kind(), ErrorKind::kUsage);
  EXPECT_THAT(one_way.message(), HasSubstr("nvjpeg, whose pixels differ, was true and is now false;"));
  const Error other_way = error_of([&] { with.load_state(without.state()); });
  EXPECT_EQ(other_way.kind(), ErrorKind::kUsage);
  EXPECT_THAT(other_way.message(), HasSubstr("nvjpeg, whose pixels differ, was false and is now true;"));
  Loader again(data.dataset, recipe(), emulated());
  EXPECT_EQ(again.load_state(with.state()), (LoaderPosition{0, 1}));
  again.start_epoch(0);
  EXPECT_EQ(audit_of(*again.next()), audit_of(*with.next()));
}

// Refuses a file of the second batch.
class RefusingDevice final : public ForwardingDevice {
 public:
  std::shared_ptr<DeviceEvent> submit(const DeviceTask& task,
                                      std::span<const std::shared_ptr<const StreamMark>> after) override {
    if (tasks_++ != 1 || task.decodes.size() != kBatch) return ForwardingDevice::submit(task, after);
    DeviceTask changed = task;
    changed.decodes[kRefused].file = garbage_;
    return ForwardingDevice::submit(changed, after);
  }

  static constexpr int kRefused = 4;

 private:
  const std::vector<std::uint8_t> garbage_ = std::vector<std::uint8_t>(100, 'x');
  int tasks_ = 0;
};

TEST(LoaderNvjpeg, SaysWhichSampleWasRefusedAndGoesOnWithAnotherEpoch) {
  const MemoryDataset data = memory_dataset();
  LoaderOptions options = options_on(std::make_shared<RefusingDevice>());
  options.threads = 1;  // which hands the batches over in their order
  Loader without(data.dataset, recipe(), {.batch = kBatch, .threads = 2});
  const std::vector<std::string> want = audit_of(without, 1);
  std::string key;
  int number = 0;
  for (const BatchPtr& batch : without.epoch(0)) {
    if (number++ == 1) key = batch->key[RefusingDevice::kRefused];
  }
  Loader loader(data.dataset, recipe(), options);
  loader.start_epoch(0);
  loader.next();
  const Error error = error_of([&] { loader.next(); });
  EXPECT_EQ(error.kind(), ErrorKind::kData);
  EXPECT_THAT(error.message(),
              AllOf(HasSubstr("sample '" + key + "' is a JPEG that nvJPEG on "), HasSubstr("emulated:execute")));
  std::vector<std::string> again;
  for (const BatchPtr& batch : loader.epoch(0)) {
    for (std::string& line : audit_of(*batch)) again.push_back(std::move(line));
  }
  EXPECT_EQ(again, want);
}

}  // namespace
}  // namespace stoker
