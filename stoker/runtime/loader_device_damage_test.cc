// Loaders on a device whose memory is not to be trusted: what was sound on the host is damaged on its way.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>

#include "stoker/base/error_testing.h"
#include "stoker/base/noise_testing.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/codec/image_decoder.h"
#include "stoker/codec/jpeg/device_decode.h"
#include "stoker/runtime/loader_testing.h"
#include "stoker/storage/memory_source.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

constexpr int kBatch = 6;

// A data set in memory as it is with an index: with entry points.
class WithEntryPoints final : public Dataset {
 public:
  explicit WithEntryPoints(std::shared_ptr<const Dataset> plain) : plain_(std::move(plain)) {
    AnyImageDecoder decoder;
    std::vector<std::uint8_t> all;
    for (std::int64_t sample = 0; sample < plain_->size(); ++sample) {
      const SampleRow row = plain_->row(sample);
      const SampleField& image = *row.image_field();
      std::vector<std::uint8_t> encoded(image.length), points;
      read_fully(*row.source, image.offset, encoded);
      EXPECT_TRUE(decoder.decodes_cleanly(encoded, decoder.read_facts(encoded), points));
      begins_.push_back(all.size());
      all.insert(all.end(), points.begin(), points.end());
    }
    begins_.push_back(all.size());
    points_ = std::make_unique<MemorySource>("memory.sidx", std::move(all));
  }

  std::int64_t size() const override { return plain_->size(); }
  const std::vector<std::string>& classes() const override { return plain_->classes(); }
  const std::vector<std::string>& field_names() const override { return plain_->field_names(); }
  void prepare(std::span<const std::int64_t> samples) const override { plain_->prepare(samples); }
  std::vector<std::int64_t> shard_samples() const override { return plain_->shard_samples(); }
  std::uint64_t bytes() const override { return plain_->bytes(); }
  std::uint64_t fingerprint() const override { return plain_->fingerprint(); }
  void read(std::int64_t sample, SampleRow& into) const override {
    plain_->read(sample, into);
    const auto at = static_cast<std::size_t>(sample);
    into.entry_points.offset = begins_[at];
    into.entry_points.length = begins_[at + 1] - begins_[at];
    into.entry_points_source = points_.get();
  }

 private:
  const std::shared_ptr<const Dataset> plain_;
  std::vector<std::uint64_t> begins_;  // of each sample's entry points, and the end of all
  std::unique_ptr<Source> points_;
};

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
        const std::uint8_t* const begin = jpeg_.memory + component.samples + std::int64_t{row} * component.row_stride;
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
class DamagingDevice final : public Device {
 public:
  using Damage = std::function<void(const Staged& staged, int image)>;

  /// Image `number` of the task with the number `batch`.
  DamagingDevice(int batch, int image, Damage damage) : batch_(batch), image_(image), damage_(std::move(damage)) {}

  const std::string& name() const override { return inner_->name(); }
  bool computes() const override { return true; }
  std::string caveat() const override { return {}; }
  bool memory_is_host() const override { return true; }
  Allocator& staging() override { return inner_->staging(); }
  Allocator& memory() override { return inner_->memory(); }

  std::shared_ptr<DeviceEvent> submit(const DeviceTask& task) override {
    std::shared_ptr<DeviceEvent> event = inner_->submit(task);
    if (tasks_++ != batch_) return event;
    const Staged staged(task);
    images_ = staged.images();
    if (images_ != kBatch) return event;  // tests look at that
    std::vector<std::vector<std::uint8_t>> sound;
    for (int i = 0; i < images_; ++i) sound.push_back(staged.made(i));
    damage_(staged, image_);
    event = inner_->submit(task);
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
  const std::shared_ptr<Device> inner_ = open_device("emulated:execute");
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
      std::make_shared<WithEntryPoints>(memory_dataset({.samples = 24, .width = 90, .height = 70}).dataset);
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
    EXPECT_THAT(error.message(), HasSubstr(fmt::format("sample '{}' was sound here",
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
  EXPECT_GT(noticed, 20);
}

}  // namespace
}  // namespace stoker
