// The same plan with its stages split between host and device, at every transfer index: bit for bit what the host alone
// makes. The device is emulated, and runs the grids that a GPU would, unless the environment names one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/codec/encoded_testing.h"
#include "stoker/device/device_testing.h"
#include "stoker/plan/agreement_testing.h"
#include "stoker/plan/cpu_executor.h"
#include "stoker/plan/device_batch.h"

namespace stoker {
namespace {

struct Sample {
  std::vector<std::uint8_t> encoded, entry_points;
  SampleDraw draw;
};

// As an index would have it.
Sample indexed(std::vector<std::uint8_t> encoded, SampleDraw draw) {
  Sample sample{std::move(encoded), {}, draw};
  AnyImageDecoder decoder;
  decoder.decodes_cleanly(sample.encoded, decoder.read_facts(sample.encoded), sample.entry_points);
  return sample;
}

// As if the data's images took so much, coded: then large ones have room in any form, and small outputs do not forbid
// it.
constexpr std::size_t kImageBytes = 100'000;

// All of them in one batch.
class SplitBatch {
 public:
  SplitBatch(const Recipe& recipe, int slots, std::size_t image_bytes = kImageBytes)
      : plan_(recipe),
        slots_(slots),
        executor_(plan_),
        out_(device_->memory(), batch_bytes(plan_.outputs(), slots)),
        batch_(plan_, slots, image_bytes, *device_, out_.data()) {}

  void run(int transfer_index, const std::vector<Sample>& samples) {
    const std::vector<std::uint8_t> noise(out_.size(), 0xCD);
    finish({.copies_in = {{out_.data(), noise.data(), noise.size()}}, .launches = {}, .copies_out = {}});
    batch_.start(transfer_index);
    for (int slot = 0; slot < slots_; ++slot) fill(slot, samples[static_cast<std::size_t>(slot)]);
    finish();
  }

  void start(int transfer_index) { batch_.start(transfer_index); }
  void fill(int slot, const Sample& sample) { executor_.run(input(sample), batch_, slot); }
  void zero(int slot) { batch_.put(0, slot, {}); }
  void finish() { finish(batch_.seal()); }

  // What the host alone makes of it.
  std::vector<SampleOutput> want(const Sample& sample) {
    CpuExecutor whole(plan_);
    return run_one(whole, input(sample));
  }
  std::vector<std::uint8_t> got(std::size_t view, int slot) const {
    const std::vector<OutputSpec> outputs = plan_.outputs();
    const std::size_t bytes = outputs[view].bytes_per_sample();
    std::vector<std::uint8_t> tensor(bytes);
    const std::size_t begin = batch_offsets(outputs, slots_)[view] + bytes * static_cast<std::size_t>(slot);
    device_->fetch(tensor.data(), out_.data() + begin, bytes);
    return tensor;
  }
  const DeviceBatch& batch() const { return batch_; }
  const ExecutorCounts& counts() const { return executor_.counts(); }

 private:
  void finish(const DeviceTask& task) {
    constexpr std::int64_t kPatienceNs = 60'000'000'000;
    EXPECT_TRUE(device_->submit(task, {})->wait_for(kPatienceNs));
  }
  SampleInput input(const Sample& sample) {
    field_ = sample.encoded;
    return {.fields = std::span(&field_, 1),
            .entry_points = sample.entry_points,
            .entry_points_of = sample.entry_points.empty() ? -1 : 0,
            .label = 3,
            .draw = sample.draw};
  }

  const std::shared_ptr<Device> device_ = open_test_device();
  const Plan plan_;
  const int slots_;
  CpuExecutor executor_;
  Memory out_;
  DeviceBatch batch_;
  Bytes field_;
};

void expect_agreement(const Recipe& recipe, const std::vector<Sample>& samples, const std::string& what) {
  const int slots = static_cast<int>(samples.size());
  SplitBatch split(recipe, slots);
  std::vector<std::vector<SampleOutput>> want;
  for (const Sample& sample : samples) want.push_back(split.want(sample));
  for (int index = 0; index <= kTransferIndexMax; ++index) {
    split.run(index, samples);
    EXPECT_EQ(split.batch().faulty_slot(), std::nullopt);
    for (int slot = 0; slot < slots; ++slot) {
      const std::vector<SampleOutput>& outputs = want[static_cast<std::size_t>(slot)];
      for (std::size_t view = 0; view < outputs.size(); ++view) {
        ASSERT_EQ(split.got(view, slot), outputs[view].bytes)
            << what << ", transfer index " << index << ", slot " << slot << ", view " << view << '\n'
            << recipe.to_toml();
      }
    }
  }
}

TEST(DeviceAgreement, HoldsForEveryRecipeImageAndIndex) {
  std::uint64_t seed = 0;
  for (const Recipe& recipe : agreement_recipes()) {
    std::vector<Sample> samples;
    const Plan plan(recipe);
    CpuExecutor executor(plan);
    for (const ImageSize size : kAgreementSizes) {
      ++seed;
      for (std::vector<std::uint8_t>& encoded : agreement_images(size, seed)) {
        Sample sample = indexed(std::move(encoded), {seed, 1, seed * 7});
        const Bytes fields[] = {sample.encoded};
        try {
          run_one(executor, {.fields = fields, .draw = sample.draw});
        } catch (const Error&) {
          continue;  // too small for the recipe: ExecutorAgreement has those
        }
        samples.push_back(std::move(sample));
      }
    }
    ASSERT_GE(samples.size(), 12U);
    expect_agreement(recipe, samples, "agreement recipes");
  }
}

TEST(DeviceAgreement, HoldsForRandomRecipesOnRandomImages) {
  for (std::uint64_t seed = 0; seed < rounds(std::uint64_t{40}); ++seed) {
    Random random(seed, 5, 0, 0);
    const Recipe recipe = random_recipe(random);
    std::vector<Sample> samples;
    for (int i = 0; i < 3; ++i) {
      const ImageSize size{1 + static_cast<int>(random.below(300)), 1 + static_cast<int>(random.below(300))};
      for (std::vector<std::uint8_t>& encoded : agreement_images(size, seed)) {
        samples.push_back(indexed(std::move(encoded), {seed, 1, 2}));
      }
    }
    expect_agreement(recipe, samples, fmt::format("seed {}", seed));
  }
}

TEST(DeviceAgreement, HoldsForEveryOrientation) {
  for (const char* mode : {"planar", "faithful"}) {
    std::vector<Sample> samples;
    for (int orientation = 1; orientation <= 8; ++orientation) {
      samples.push_back(indexed(turned_jpeg(45, 28, 5, orientation), {1, 2, 3}));
    }
    expect_agreement(Recipe().decode(mode, "apply").resize(20, 31), samples, mode);
    expect_agreement(Recipe().decode(mode, "apply").random_resized_crop(25).random_flip().normalize("imagenet"),
                     samples, mode);
  }
}

TEST(DeviceAgreement, CodedImagesAreDecodedThere) {
  const Recipe recipe = Recipe().decode().random_resized_crop(40).random_flip().normalize("imagenet").cast("f16");
  std::vector<Sample> samples;
  for (std::uint64_t i = 0; i < 8; ++i) {
    samples.push_back(indexed(noisy_jpeg(320 + static_cast<int>(i), 200, i, {}), {1, 2, i}));
  }
  SplitBatch split(recipe, 8);
  split.run(0, samples);
  EXPECT_EQ(split.counts().entry_points_used, 8);
}

TEST(DeviceAgreement, HoldsForImagesWhosePlanesDoNotFitTheScratchMemoryTogether) {
  Recipe recipe = Recipe().decode().resize(16, 16).normalize("imagenet");
  recipe.view("again").decode().random_resized_crop(20).cast("u8");
  std::vector<Sample> samples;
  for (std::uint64_t i = 0; i < 6; ++i) {
    samples.push_back(indexed(noisy_jpeg(1400, 800 + static_cast<int>(i), i, {.quality = 20}), {1, 2, i}));
  }
  SplitBatch split(recipe, 6, 1'000'000);
  split.run(0, samples);
  EXPECT_EQ(split.counts().entry_points_used, 12);
  EXPECT_GE(split.batch().waves(), 3U);
  for (int slot = 0; slot < 6; ++slot) {
    const std::vector<SampleOutput> want = split.want(samples[static_cast<std::size_t>(slot)]);
    for (std::size_t view = 0; view < 2; ++view) {
      EXPECT_EQ(split.got(view, slot), want[view].bytes) << "slot " << slot << ", view " << view;
    }
  }
}

}  // namespace
}  // namespace stoker
