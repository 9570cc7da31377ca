// The same plan with its stages split between host and device, at every transfer index: bit for bit what the host alone
// makes. The device is emulated, and runs the grids that a GPU would, unless the environment names one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/codec/damage_testing.h"
#include "stoker/codec/encoded_testing.h"
#include "stoker/codec/jpeg/files_testing.h"
#include "stoker/device/device_testing.h"
#include "stoker/plan/agreement_testing.h"
#include "stoker/plan/cpu_executor.h"
#include "stoker/plan/device_batch.h"

namespace stoker {
namespace {

struct Sample {
  std::vector<std::uint8_t> encoded, entry_points;
  SampleDraw draw;
  bool has_faults = false;
};

// As an index would have it.
Sample indexed(std::vector<std::uint8_t> encoded, SampleDraw draw) {
  Sample sample{.encoded = std::move(encoded), .entry_points = {}, .draw = draw};
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
  SplitBatch(const Recipe& recipe, int slots, std::size_t image_bytes = kImageBytes, bool nvjpeg = false)
      : plan_(recipe),
        slots_(slots),
        executor_(plan_),
        out_(device_->memory(), batch_bytes(plan_.outputs(), slots)),
        batch_(plan_, slots, image_bytes, *device_, out_.data(), nvjpeg) {}

  void run(int transfer_index, const std::vector<Sample>& samples) {
    const std::vector<std::uint8_t> noise(out_.size(), 0xCD);
    DeviceTask fill_out;
    fill_out.copies_in.push_back({out_.data(), noise.data(), noise.size()});
    submit(fill_out);
    start(transfer_index);
    for (int slot = 0; slot < slots_; ++slot) fill(slot, samples[static_cast<std::size_t>(slot)]);
    finish();
  }

  void start(int transfer_index) { batch_.start(transfer_index, slots_); }
  void fill(int slot, const Sample& sample) { executor_.run(input(sample), batch_, slot); }
  void zero(int slot) { batch_.put(0, slot, {}); }
  void finish() { submit(batch_.seal()); }
  DeviceTask seal() { return batch_.seal(); }
  void submit(const DeviceTask& task) {
    constexpr std::int64_t kPatienceNs = 60'000'000'000;
    EXPECT_TRUE(device_->submit(task, {})->wait_for(kPatienceNs));
  }

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
  SampleInput input(const Sample& sample) {
    field_ = sample.encoded;
    return {.fields = std::span(&field_, 1),
            .entry_points = sample.entry_points,
            .entry_points_of = sample.entry_points.empty() ? -1 : 0,
            .has_faults = sample.has_faults,
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
  want.reserve(samples.size());
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

void expect_agreement_of_images(const std::vector<Recipe>& recipes) {
  std::uint64_t seed = 0;
  for (const Recipe& recipe : recipes) {
    std::vector<Sample> samples;
    const Plan plan(recipe);
    CpuExecutor executor(plan);
    for (const ImageSize size : kAgreementSizes) {
      ++seed;
      if (kSanitized && seed % 5 > 1) continue;  // twelve sizes: over the recipes each of them comes
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
    ASSERT_GE(samples.size(), kSanitized ? 3U : 12U);
    expect_agreement(recipe, samples, "agreement recipes");
  }
}

TEST(DeviceAgreement, HoldsForEveryRecipeImageAndIndex) { expect_agreement_of_images(agreement_recipes()); }

TEST(DeviceAgreement, HoldsForEveryOperatorOnPictures) { expect_agreement_of_images(picture_recipes()); }

TEST(DeviceAgreement, HoldsForWarpsBeforeGeometry) { expect_agreement_of_images(source_warp_recipes()); }

TEST(DeviceAgreement, HoldsForEveryOperatorThatErases) { expect_agreement_of_images(erase_recipes()); }

TEST(DeviceAgreement, HoldsForOperatorsOnPicturesOfUnusualImages) {
  std::uint64_t seed = 0;
  for (const Recipe& recipe : picture_recipes()) {
    std::vector<Sample> samples;
    for (const ImageSize size : {ImageSize{1, 1}, {200, 3}, {40, 30}}) {
      for (std::vector<std::uint8_t>& encoded : unusual_images(size, ++seed)) {
        samples.push_back({.encoded = std::move(encoded), .entry_points = {}, .draw = {seed, 1, seed * 7}});
      }
    }
    expect_agreement(recipe, samples, "unusual images");
    if (HasFatalFailure()) return;
  }
}

TEST(DeviceAgreement, HoldsForViewsThatShareImages) { expect_agreement_of_images(several_view_recipes()); }

TEST(DeviceAgreement, ASharedImageCrossesOnce) {
  const Recipe one = Recipe().decode().random_resized_crop(32, {0.5, 1});
  Recipe four = one;
  for (const char* name : {"second", "third", "fourth"}) four.view(name).decode().random_resized_crop(32, {0.5, 1});
  std::vector<Sample> samples;
  for (std::uint64_t i = 0; i < 6; ++i) samples.push_back(indexed(noisy_jpeg(400, 300, i), {1, 2, i}));
  for (const int index : {0, 1}) {
    SplitBatch alone(one, 6), shared(four, 6);
    alone.run(index, samples);
    shared.run(index, samples);
    EXPECT_LT(shared.batch().bytes_to_device(), 2 * alone.batch().bytes_to_device()) << "transfer index " << index;
    EXPECT_EQ(shared.counts().entry_points_used, 6) << "transfer index " << index;
  }
}

// Of two samples for one slot, of which the first turns out to be bad when some of its views had their room.
TEST(DeviceAgreement, HoldsForASampleInTheRoomOfAnother) {
  Recipe recipe = Recipe().decode().random_resized_crop(24, {0.5, 1});
  recipe.view("other").decode().random_resized_crop(20, {0.5, 1});
  recipe.view("mask", "png").decode().resize(16, 16);
  const Plan plan(recipe);
  const std::shared_ptr<Device> device = open_test_device();
  Memory out(device->memory(), batch_bytes(plan.outputs(), 1));
  DeviceBatch batch(plan, 1, kImageBytes, *device, out.data());
  CpuExecutor executor(plan), whole(plan);
  const Sample first = indexed(noisy_jpeg(200, 150, 1), {1, 2, 3}),
               second = indexed(noisy_jpeg(180, 160, 2), {1, 2, 4});
  std::vector<std::uint8_t> mask = noisy_png(40, 30, 1), bad = mask;
  bad[bad.size() / 2] ^= 0xFF;
  const auto input_of = [](const Sample& sample, std::span<const Bytes> fields) {
    return SampleInput{
        .fields = fields, .entry_points = sample.entry_points, .entry_points_of = 0, .draw = sample.draw};
  };
  for (int index = 0; index <= kTransferIndexMax; ++index) {
    batch.start(index, 1);
    const Bytes of_first[] = {first.encoded, bad}, of_second[] = {second.encoded, mask};
    EXPECT_THROW(executor.run(input_of(first, of_first), batch, 0), Error);
    executor.run(input_of(second, of_second), batch, 0);
    ASSERT_TRUE(device->submit(batch.seal(), {})->wait_for(60'000'000'000));
    const std::vector<SampleOutput> want = run_one(whole, input_of(second, of_second));
    for (std::size_t view = 0; view < want.size(); ++view) {
      std::vector<std::uint8_t> got(want[view].bytes.size());
      device->fetch(got.data(), out.data() + batch_offsets(plan.outputs(), 1)[view], got.size());
      EXPECT_EQ(got, want[view].bytes) << "view " << view << ", transfer index " << index;
    }
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
    if (mode == std::string_view("planar")) {
      expect_agreement(Recipe().decode(mode, "apply", "auto").resize(9, 5), samples, "scaled");
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
  for (std::uint64_t i = 0; i < 8; ++i) {
    samples.push_back(indexed(noisy_jpeg(1400, 800 + static_cast<int>(i), i, {.quality = 20}), {1, 2, i}));
  }
  SplitBatch split(recipe, 8, 100'000);
  split.run(0, samples);
  EXPECT_EQ(split.counts().entry_points_used, 8) << "the views share them";
  EXPECT_GE(split.batch().waves(), 3U);
  for (int slot = 0; slot < 8; ++slot) {
    const std::vector<SampleOutput> want = split.want(samples[static_cast<std::size_t>(slot)]);
    for (std::size_t view = 0; view < 2; ++view) {
      EXPECT_EQ(split.got(view, slot), want[view].bytes) << "slot " << slot << ", view " << view;
    }
  }
}

// --- nvJPEG, for which Stoker's decoders stand in on the emulated device; its own pixels are not ours

class DeviceAgreementWithNvjpeg : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!open_test_device()->memory_is_host()) GTEST_SKIP() << "on a GPU nvJPEG would be itself";
  }
};

// Some of the samples without entry points, so that both ways go into one batch.
void forget_entry_points(std::vector<Sample>& samples, std::uint64_t seed) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if ((i + seed) % 3 != 0) samples[i].entry_points.clear();
  }
}

// How many it was left.
std::int64_t expect_agreement_with_nvjpeg(const Recipe& recipe, const std::vector<Sample>& samples,
                                          const std::string& what, std::size_t image_bytes = kImageBytes) {
  SplitBatch split(recipe, static_cast<int>(samples.size()), image_bytes, true);
  split.run(0, samples);
  EXPECT_EQ(split.batch().faulty_slot(), std::nullopt);
  EXPECT_EQ(split.batch().refused_slot(), std::nullopt);
  for (std::size_t slot = 0; slot < samples.size(); ++slot) {
    const std::vector<SampleOutput> want = split.want(samples[slot]);
    for (std::size_t view = 0; view < want.size(); ++view) {
      EXPECT_EQ(split.got(view, static_cast<int>(slot)), want[view].bytes)
          << what << ", slot " << slot << ", view " << view << '\n'
          << recipe.to_toml();
    }
  }
  return split.counts().nvjpeg_images;
}

// A CMYK file: of those nvJPEG is given none.
std::vector<std::uint8_t> cmyk_jpeg() {
  return encode_test_jpeg({.name = "cmyk", .components = 4}, make_test_image(50, 40, 4));
}

TEST_F(DeviceAgreementWithNvjpeg, HoldsForEveryImageAmongOthersInOneBatch) {
  for (const char* mode : {"planar", "faithful"}) {
    const Recipe recipe = Recipe().decode(mode).random_resized_crop(40).random_flip().normalize("imagenet").cast("f16");
    std::vector<Sample> samples;
    std::uint64_t seed = 0;
    for (const ImageSize size : kAgreementSizes) {
      for (std::vector<std::uint8_t>& encoded : agreement_images(size, ++seed)) {
        samples.push_back(indexed(std::move(encoded), {seed, 1, seed * 7}));
      }
      samples.push_back(indexed(cmyk_jpeg(), {seed, 2, 3}));
    }
    forget_entry_points(samples, 0);
    const std::int64_t left = expect_agreement_with_nvjpeg(recipe, samples, mode);
    if (std::string_view(mode) == "planar") {
      EXPECT_GE(left, 40);
    } else {
      EXPECT_EQ(left, 0);
    }
  }
}

TEST_F(DeviceAgreementWithNvjpeg, HoldsForViewsThatShareAFile) {
  std::vector<Sample> samples;
  for (std::uint64_t i = 0; i < 9; ++i) samples.push_back(indexed(noisy_jpeg(210, 190, i), {1, 2, i}));
  forget_entry_points(samples, 0);
  Recipe recipe = Recipe().decode().random_resized_crop(40, {0.3, 1});
  recipe.view("other").decode().random_resized_crop(24, {0.3, 1}).normalize("imagenet");
  EXPECT_EQ(expect_agreement_with_nvjpeg(recipe, samples, "shared"), 6);
}

TEST_F(DeviceAgreementWithNvjpeg, HoldsForEveryKindOfJpeg) {
  std::vector<Sample> samples;
  for (const TestJpeg& kind : test_jpeg_kinds()) {
    samples.push_back({.encoded = encode_test_jpeg(kind, make_test_image(83, 57, kind.components)),
                       .entry_points = {},
                       .draw = {1, 2, samples.size()}});
  }
  const std::int64_t left =
      expect_agreement_with_nvjpeg(Recipe().decode().random_resized_crop(40).normalize("imagenet"), samples, "kinds");
  EXPECT_GT(left, 10);
  EXPECT_LT(left, static_cast<std::int64_t>(samples.size()) - 5) << "CMYK, RGB, arithmetic coding, several scans";
}

TEST_F(DeviceAgreementWithNvjpeg, HoldsForRandomRecipesOnImagesOfWhichSomeAreDamaged) {
  std::int64_t left = 0;
  for (std::uint64_t seed = 0; seed < rounds(std::uint64_t{40}); ++seed) {
    Random random(seed, 6, 0, 0);
    std::mt19937 damage(static_cast<std::uint32_t>(seed));
    const Recipe recipe = random_recipe(random);
    const Plan plan(recipe);
    CpuExecutor executor(plan);
    std::vector<Sample> samples;
    for (int i = 0; i < 3; ++i) {
      const ImageSize size{1 + static_cast<int>(random.below(300)), 1 + static_cast<int>(random.below(300))};
      for (std::vector<std::uint8_t>& encoded : agreement_images(size, seed)) {
        Sample sample{.encoded = std::move(encoded), .entry_points = {}, .draw = {seed, 1, 2}};
        if (random.below(2)) {
          sample.encoded = damaged(std::move(sample.encoded), sample.encoded.size() * 3 / 4, damage);
        }
        const Bytes fields[] = {sample.encoded};
        try {
          run_one(executor, {.fields = fields, .draw = sample.draw});
        } catch (const Error&) {
          continue;  // bad: not of a batch
        }
        samples.push_back(std::move(sample));
      }
    }
    left += expect_agreement_with_nvjpeg(recipe, samples, fmt::format("seed {}", seed));
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(left, 0);
}

TEST_F(DeviceAgreementWithNvjpeg, HoldsForEveryOrientation) {
  std::vector<Sample> samples;
  for (int orientation = 1; orientation <= 8; ++orientation) {
    samples.push_back({.encoded = turned_jpeg(45, 28, 5, orientation), .entry_points = {}, .draw = {1, 2, 3}});
  }
  EXPECT_EQ(expect_agreement_with_nvjpeg(Recipe().decode("planar", "apply").resize(20, 31), samples, "turned"), 8);
}

// Planes of so many samples in a file of few bytes.
Sample large_image(int width, int height, std::uint64_t seed) {
  std::vector<std::uint8_t> pixels;
  for (int y = 0; y < height; ++y) {
    pixels.insert(pixels.end(), static_cast<std::size_t>(width), static_cast<std::uint8_t>(y / 16 * 7 + 50 * seed));
  }
  Sample sample{.encoded = {}, .entry_points = {}, .draw = {1, 2, seed}};
  encode_jpeg(interleaved_view<const std::uint8_t>(pixels.data(), width, height, 1), {}, sample.encoded);
  return sample;
}

TEST_F(DeviceAgreementWithNvjpeg, HoldsForImagesWhosePlanesDoNotFitTheScratchMemoryTogether) {
  Recipe recipe = Recipe().decode().resize(16, 16).normalize("imagenet");
  recipe.view("again").decode().random_resized_crop(20).cast("u8");
  std::vector<Sample> samples;
  for (std::uint64_t i = 0; i < 4; ++i) {
    samples.push_back(large_image(4000 + static_cast<int>(i), 3000, i));
    samples.push_back(indexed(noisy_jpeg(1400, 800, i, {.quality = 20}), {1, 2, i}));
  }
  EXPECT_EQ(expect_agreement_with_nvjpeg(recipe, samples, "large", 1'000'000), 4);
  SplitBatch split(recipe, 8, 100'000, true);
  split.run(0, samples);
  EXPECT_GE(split.batch().waves(), 1 + 2U) << "two files at a time";
}

TEST_F(DeviceAgreementWithNvjpeg, WhereThereIsNoRoomImagesAreDecodedHere) {
  const Recipe recipe = Recipe().decode().resize(16, 16).normalize("imagenet");
  const std::vector<Sample> file = {{.encoded = noisy_jpeg(300, 200, 1), .entry_points = {}, .draw = {1, 2, 3}}};
  EXPECT_EQ(expect_agreement_with_nvjpeg(recipe, file, "large file", 1000), 0);
  const std::vector<Sample> planes = {large_image(5800, 5800, 1), large_image(5700, 5800, 1)};
  EXPECT_EQ(expect_agreement_with_nvjpeg(recipe, planes, "large planes", 10'000'000), 1);
  const Recipe with_more_scratch = Recipe().decode().resize(2400, 2400).cast("u8");
  EXPECT_EQ(expect_agreement_with_nvjpeg(with_more_scratch, planes, "large planes and tensors"), 1);
}

TEST_F(DeviceAgreementWithNvjpeg, ItIsGivenNoImageThatAnIndexKnowsToBeDamaged) {
  const std::vector<Sample> samples = {
      {.encoded = noisy_jpeg(90, 80, 1), .entry_points = {}, .draw = {1, 2, 3}, .has_faults = true}};
  EXPECT_EQ(expect_agreement_with_nvjpeg(Recipe().decode().resize(32, 32), samples, "damaged"), 0);
}

TEST_F(DeviceAgreementWithNvjpeg, TellsWhichFileWasRefused) {
  const Recipe recipe = Recipe().decode().resize(64, 64);
  std::vector<Sample> samples;
  for (std::uint64_t i = 0; i < 6; ++i) samples.push_back(indexed(noisy_jpeg(90, 80, i), {1, 2, i}));
  forget_entry_points(samples, 0);  // of slots 1, 2, 4, 5
  SplitBatch split(recipe, 6, kImageBytes, true);
  split.start(0);
  for (int slot = 0; slot < 6; ++slot) split.fill(slot, samples[static_cast<std::size_t>(slot)]);
  DeviceTask task = split.seal();
  ASSERT_EQ(task.decodes.size(), 4U);
  const std::vector<std::uint8_t> garbage(100, 'x');
  for (const std::size_t refused : {2, 3}) task.decodes[refused].file = garbage;
  split.submit(task);
  EXPECT_EQ(split.batch().refused_slot(), 4);
  EXPECT_EQ(split.batch().faulty_slot(), std::nullopt);
  for (const int slot : {0, 1, 2, 3}) {
    EXPECT_EQ(split.got(0, slot), split.want(samples[static_cast<std::size_t>(slot)])[0].bytes) << "slot " << slot;
  }
}

}  // namespace
}  // namespace stoker
