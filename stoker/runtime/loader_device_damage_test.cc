// Loaders on a device whose memory is not to be trusted: what was sound on the host is damaged on its way.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>

#include "stoker/base/error_testing.h"
#include "stoker/base/noise_testing.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/codec/jpeg/device_decode.h"
#include "stoker/device/forwarding_device_testing.h"
#include "stoker/runtime/loader_testing.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

constexpr int kBatch = 6;

// What a task's kernels are given; their tables as they lie in staging.
class Staged {
 public:
  explicit Staged(const DeviceTask& task) : task_(task) {
    for (const DeviceLaunch& launch : task.launches) {
      if (launch.kernel == DeviceKernels::number<DeviceJpegKernel>()) {
        std::memcpy(&jpeg_, launch.args.data(), sizeof(jpeg_));
      } else if (launch.kernel == DeviceKernels::number<DevicePlanarKernel>()) {
        std::memcpy(&planar_, launch.args.data(), sizeof(planar_));
      }
    }
  }

  int images() const { return jpeg_.image_count; }
  const DeviceJpegImage& image(int number) const {
    return reinterpret_cast<const DeviceJpegImage*>(
        staged(reinterpret_cast<const std::uint8_t*>(jpeg_.images)))[number];
  }
  /// All that crosses of an image but for its description.
  MutableBytes coded(int number) const {
    const DeviceJpegImage& described = image(number);
    return {staged(jpeg_.memory + described.tables), described.data + described.data_bytes - described.tables};
  }
  MutableBytes data(int number) const { return {staged(jpeg_.memory + image(number).data), image(number).data_bytes}; }

  /// What the device made of an image: its planes and its tensor.
  std::vector<std::uint8_t> made(int number) const {
    std::vector<std::uint8_t> bytes;
    const DeviceJpegImage& described = image(number);
    for (int c = 0; c < described.component_count; ++c) {
      const DeviceJpegImage::Component& component = described.component[c];
      for (int row = 0; row < 8 * component.down * described.rows; ++row) {
        const std::uint8_t* const begin = jpeg_.scratch + component.samples + std::int64_t{row} * component.row_stride;
        bytes.insert(bytes.end(), begin, begin + 8 * component.across * described.columns);
      }
    }
    const auto slot = static_cast<std::uint64_t>(planar_images()[number].slot);
    const std::uint8_t* const tensor = planar_.out + planar_.color.out_begin + planar_.color.slot_bytes * slot;
    bytes.insert(bytes.end(), tensor, tensor + planar_.color.slot_bytes);
    return bytes;
  }
  int slot(int number) const { return planar_images()[number].slot; }

 private:
  const DevicePlanarImage* planar_images() const {
    return reinterpret_cast<const DevicePlanarImage*>(staged(reinterpret_cast<const std::uint8_t*>(planar_.images)));
  }
  // Where the bytes come from that will be at a place of the device's memory.
  std::uint8_t* staged(const std::uint8_t* place) const {
    for (const DeviceCopy& copy : task_.copies_in) {
      if (copy.from && place >= copy.to && place < copy.to + copy.bytes) {
        return const_cast<std::uint8_t*>(copy.from) + (place - copy.to);
      }
    }
    return nullptr;
  }

  const DeviceTask& task_;
  DeviceJpegKernel::Args jpeg_{};
  DevicePlanarKernel::Args planar_{};
};

// Does everything as the emulated device does, but damages an image of one of the batches.
class DamagingDevice final : public ForwardingDevice {
 public:
  using Damage = std::function<void(const Staged& staged, int image)>;

  /// Image `number` of the task with the number `batch`.
  DamagingDevice(int batch, int image, Damage damage) : batch_(batch), image_(image), damage_(std::move(damage)) {}

  std::shared_ptr<DeviceEvent> submit(const DeviceTask& task,
                                      std::span<const std::shared_ptr<const StreamMark>> after) override {
    std::shared_ptr<DeviceEvent> event = ForwardingDevice::submit(task, after);
    if (tasks_++ != batch_) return event;
    const Staged staged(task);
    images_ = staged.images();
    if (images_ != kBatch) return event;  // tests look at that
    std::vector<std::vector<std::uint8_t>> sound;
    for (int i = 0; i < images_; ++i) sound.push_back(staged.made(i));
    damage_(staged, image_);
    event = ForwardingDevice::submit(task, after);
    for (int i = 0; i < images_; ++i) {
      const bool same = staged.made(i) == sound[static_cast<std::size_t>(i)];
      EXPECT_TRUE(same || i == image_) << "image " << i;
    }
    slot_ = staged.slot(image_);
    return event;
  }

  int images() const { return images_; }
  int slot() const { return slot_; }

 private:
  const int batch_, image_;
  const Damage damage_;
  int tasks_ = 0;
  std::atomic<int> images_ = 0, slot_ = -1;
};

class LoaderOnDamagingDevice : public testing::Test {
 protected:
  // The batches of an epoch as they should be: their audit's lines, and their keys.
  struct Batches {
    std::vector<std::vector<std::string>> audits, keys;
  };

  LoaderOptions options(std::shared_ptr<Device> device) const {
    // One worker hands the batches over in their order.
    return {.batch = kBatch, .threads = 1, .device = std::move(device), .transfer_index = 0};
  }
  Batches sound() const {
    Batches batches;
    Loader loader(data_, recipe_, options(open_device("emulated:execute")));
    for (const BatchPtr& batch : loader.epoch(0)) {
      batches.audits.push_back(audit_of(*batch));
      batches.keys.push_back(batch->key);
    }
    return batches;
  }

  const std::shared_ptr<const Dataset> data_ =
      memory_dataset({.samples = 24, .width = 90, .height = 70, .indexed = true}).dataset;
  // Tensors so large that all images have room to be decoded on the device.
  const Recipe recipe_ = Recipe().decode().random_resized_crop(96).random_flip().normalize("imagenet").cast("f16");
};

TEST_F(LoaderOnDamagingDevice, SaysWhichSampleItWasAndGoesOnWithAnotherEpoch) {
  const Batches want = sound();
  for (int image = 0; image < kBatch; ++image) {
    const auto device = std::make_shared<DamagingDevice>(
        1, image, [](const Staged& staged, int number) { std::ranges::fill(staged.data(number), std::uint8_t{0xFF}); });
    Loader loader(data_, recipe_, options(device));
    loader.start_epoch(0);
    EXPECT_EQ(audit_of(*loader.next()), want.audits[0]);
    const Error error = error_of([&] { loader.next(); });
    ASSERT_EQ(device->images(), kBatch) << "all cross coded";
    EXPECT_EQ(error.kind(), ErrorKind::kIo);
    EXPECT_THAT(error.message(), HasSubstr(fmt::format("sample '{}' was sound on the host",
                                                       want.keys[1][static_cast<std::size_t>(device->slot())])));
    EXPECT_THAT(error.message(), HasSubstr("emulated:execute"));
    std::vector<std::string> again;
    for (const BatchPtr& batch : loader.epoch(0)) {
      for (std::string& line : audit_of(*batch)) again.push_back(std::move(line));
    }
    std::vector<std::string> all;
    for (const std::vector<std::string>& audit : want.audits) all.insert(all.end(), audit.begin(), audit.end());
    EXPECT_EQ(again, all);
  }
}

// Damage of any kind: it is the sample's own, noticed or not.
TEST_F(LoaderOnDamagingDevice, KeepsAllOtherSamplesAsTheyWere) {
  const Batches want = sound();
  int noticed = 0;
  for (std::uint32_t seed = 0; seed < rounds(60U); ++seed) {
    Noise noise(seed);
    const int image = noise.between(0, kBatch - 1);
    const auto device = std::make_shared<DamagingDevice>(0, image, [&](const Staged& staged, int number) {
      const MutableBytes coded = staged.coded(number);
      const MutableBytes part = coded.subspan(noise.next() % coded.size());
      switch (noise.between(0, 3)) {
        case 0: part[0] = noise.byte(); break;
        case 1: std::ranges::fill(part, noise.byte()); break;
        default: std::ranges::generate(part, [&] { return noise.byte(); });
      }
    });
    Loader loader(data_, recipe_, options(device));
    loader.start_epoch(0);
    try {
      const BatchPtr batch = loader.next();
      std::vector<std::string> got = audit_of(*batch), others = want.audits[0];
      ASSERT_GE(device->slot(), 0);
      got.erase(got.begin() + device->slot());
      others.erase(others.begin() + device->slot());
      EXPECT_EQ(got, others);
    } catch (const Error& error) {
      ++noticed;
      EXPECT_EQ(error.kind(), ErrorKind::kIo);
      EXPECT_THAT(error.message(),
                  HasSubstr(fmt::format("'{}'", want.keys[0][static_cast<std::size_t>(device->slot())])));
    }
    ASSERT_EQ(device->images(), kBatch) << "all cross coded";
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  EXPECT_GT(noticed, rounds(24));
}

}  // namespace
}  // namespace stoker
