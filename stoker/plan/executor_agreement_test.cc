// The fast executor, whole or stage by stage, against the obviously correct one: bit for bit, on every instruction set.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "stoker/base/isa_testing.h"
#include "stoker/base/random.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/codec/encoded_testing.h"
#include "stoker/plan/cpu_executor.h"
#include "stoker/plan/reference_executor.h"

namespace stoker {
namespace {

struct Size {
  int width, height;
};
constexpr Size kSizes[] = {{1, 1},   {1, 9},   {7, 1},   {2, 3},    {15, 16}, {16, 17},
                           {31, 33}, {64, 63}, {65, 48}, {130, 20}, {3, 200}, {97, 71}};

std::vector<Recipe> recipes_in(const char* mode) {
  const auto base = [&] { return Recipe().decode(mode); };
  return {
      base().resize(16, 16),
      base().resize(9, 33, "bicubic").normalize("imagenet"),
      base().resize(40, 8, "nearest").layout("nhwc"),
      base().resize(31, "box").center_crop(24).cast("f16"),
      base().random_resized_crop(17).random_flip().normalize("imagenet"),
      base()
          .random_resized_crop(32, {0.3, 0.9}, {0.5, 2}, "bicubic")
          .random_flip(0.5, "vertical")
          .normalize("unit")
          .cast("bf16")
          .layout("nhwc"),
      base().center_crop(20, 7).flip().channel_order("bgr"),
      base().resize(24, 30).random_crop(22, 3, 9).random_flip().channel_order("bgr").normalize({104, 117, 123},
                                                                                               {1, 2, 3}, 1),
      base().random_crop(40, 40).normalize("cifar10").cast("u8"),
      base().pad({1, 2, 3, 4}, {10, 20, 30}).center_crop(13).cast("f32"),
      base().resize(20, 20).pad({30, 30, 30, 30}, {10, 20, 30}).crop(2, 3, 20, 25),  // nothing but padding
      base().resize(20, 20).flip("vertical").resize(11, 37, "bilinear"),
      base().flip().resize(23, 18, "box").flip("vertical").center_crop(15).flip().resize(31, 9, "nearest"),
      base().resize(5, 5).normalize({0}, {1}, 1),  // the same numbers, as f32
      base().resize(50, 50).center_crop(30).resize(19, 19, "bicubic").random_flip(),
  };
}

std::vector<Recipe> recipes() {
  std::vector<Recipe> recipes;
  for (const char* mode : {"planar", "faithful"}) {
    for (Recipe& recipe : recipes_in(mode)) recipes.push_back(std::move(recipe));
  }
  return recipes;
}

std::vector<std::vector<std::uint8_t>> encodings(Size size, std::uint64_t seed) {
  return {
      noisy_jpeg(size.width, size.height, seed, {.quality = 90, .subsampling = ChromaSubsampling::k444}),
      noisy_jpeg(size.width, size.height, seed,
                 {.quality = 70, .subsampling = ChromaSubsampling::k420, .optimize = false}),
      noisy_jpeg(size.width, size.height, seed, {.subsampling = ChromaSubsampling::k422, .restart_rows = 1}),
      noisy_jpeg(size.width, size.height, seed, {.progressive = true}),
      noisy_jpeg(size.width, size.height, seed, {}, 1),
      noisy_png(size.width, size.height, seed),
  };
}

Recipe random_recipe(Random& random) {
  const auto between = [&](int low, int high) {
    return low + static_cast<int>(random.below(static_cast<std::uint64_t>(high - low + 1)));
  };
  constexpr const char* kFilters[] = {"nearest", "box", "bilinear", "bicubic"};
  const std::string_view filter = kFilters[random.below(4)];
  Recipe recipe = Recipe().decode(random.below(4) == 0 ? "faithful" : "planar");
  if (random.below(2)) recipe.random_flip(0.5, random.below(2) ? "horizontal" : "vertical");
  switch (random.below(4)) {
    case 0: recipe.resize(between(1, 90), between(1, 90), filter); break;
    case 1: recipe.resize(between(1, 60), filter).center_crop(between(1, 70), between(0, 255)); break;
    case 2: recipe.random_resized_crop(between(1, 80), {0.05, 1}, {0.3, 3}, filter); break;
    default: recipe.resize(between(8, 90), between(8, 90), filter).random_crop(between(1, 8), between(0, 12)); break;
  }
  if (random.below(2)) recipe.random_flip(0.5, random.below(2) ? "horizontal" : "vertical");
  if (random.below(3)) recipe.normalize("imagenet");
  if (random.below(2)) recipe.cast(random.below(2) ? "f16" : "bf16");
  if (random.below(2)) recipe.layout("nhwc");
  return recipe;
}

// The finished tensor by the stages one at a time, each from the last one's output, in memory granted beforehand.
std::vector<std::uint8_t> run_stages(const ViewPlan& view, Bytes encoded, const SampleDraw& draw) {
  ImageStages stages;
  const StageOutputs outputs = stages.begin(view, encoded, draw);
  std::vector<std::uint8_t> resized(outputs.geometry.bytes()), finished(outputs.color.bytes());
  stages.decode();
  EXPECT_EQ(outputs.decode.dtype, DType::kU8);
  stages.geometry(stages.resized_view(resized.data()));
  stages.color(stages.resized_view(resized.data()), finished.data());
  return finished;
}

TEST(ExecutorAgreement, HoldsForEveryRecipeImageAndInstructionSet) {
  const std::string best = active_isa();
  const std::vector<std::string> there = available_isas();
  for (const char* isa : kIsaNames) {
    if (std::find(there.begin(), there.end(), isa) == there.end()) {
      std::printf("instruction set %s: skipped, this machine does not have it\n", isa);
      continue;
    }
    std::printf("instruction set %s: runs\n", isa);
    select_isa(isa);
    std::uint64_t seed = 0;
    for (const Recipe& recipe : recipes()) {
      const Plan plan(recipe);
      CpuExecutor fast(plan);
      ReferenceExecutor reference(plan);
      for (const Size size : kSizes) {
        ++seed;
        for (const auto& encoded : encodings(size, seed)) {
          const Bytes fields[] = {encoded};
          const SampleInput input{.fields = fields, .label = 3, .draw = {seed, 1, seed * 7}};
          const std::string what = fmt::format("{}\n{} x {} on {}", recipe.to_toml(), size.width, size.height, isa);
          std::vector<SampleOutput> want;
          try {
            want = run_one(reference, input);
          } catch (const Error& error) {
            EXPECT_THROW(run_one(fast, input), Error) << what << error.what();
            continue;
          }
          const std::vector<SampleOutput> got = run_one(fast, input);
          ASSERT_EQ(got.size(), want.size());
          for (std::size_t i = 0; i < got.size(); ++i) {
            ASSERT_EQ(got[i].spec.shape, want[i].spec.shape) << what;
            ASSERT_EQ(got[i].bytes, want[i].bytes) << what;
          }
          ASSERT_EQ(run_stages(plan.views()[0], encoded, input.draw), want[0].bytes) << "stage by stage: " << what;
        }
      }
    }
  }
  select_isa(best);
}

TEST(ExecutorAgreement, HoldsForRandomRecipesOnRandomImages) {
  for (std::uint64_t seed = 0; seed < rounds(std::uint64_t{100}); ++seed) {
    Random random(seed, 0, 0, 0);
    const Recipe recipe = random_recipe(random);
    const Plan plan(recipe);
    CpuExecutor fast(plan);
    ReferenceExecutor reference(plan);
    const Size size{1 + static_cast<int>(random.below(300)), 1 + static_cast<int>(random.below(300))};
    for (const auto& encoded : encodings(size, seed)) {
      const Bytes fields[] = {encoded};
      const SampleInput input{.fields = fields, .draw = {seed, 1, 2}};
      const auto got = run_one(fast, input), want = run_one(reference, input);
      ASSERT_EQ(got[0].spec.shape, want[0].spec.shape);
      ASSERT_EQ(got[0].bytes, want[0].bytes) << seed << ": " << size.width << " x " << size.height << recipe.to_toml();
    }
  }
}

TEST(ExecutorAgreement, HoldsForEveryOrientation) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    std::vector<std::uint8_t> encoded = noisy_jpeg(45, 28, 5, {.subsampling = ChromaSubsampling::k420});
    // An Exif segment with one entry, the orientation, right after the start-of-image marker.
    const std::vector<std::uint8_t> exif = {
        0xFF, 0xE1, 0, 34, 'E', 'x',  'i',  'f', 0, 0, 'M', 'M', 0, 42, 0,
        0,    0,    8, 0,  1,   0x01, 0x12, 0,   3, 0, 0,   0,   1, 0,  static_cast<std::uint8_t>(orientation),
        0,    0,    0, 0,  0,   0};
    encoded.insert(encoded.begin() + 2, exif.begin(), exif.end());
    for (const Recipe& recipe :
         {Recipe().decode("planar", "apply").resize(20, 31), Recipe().decode("planar", "apply").random_resized_crop(25),
          Recipe().decode("planar", "apply").random_crop(16).random_flip().normalize("imagenet").layout("nhwc"),
          Recipe().decode("faithful", "apply").resize(20, 31),
          Recipe().decode("faithful", "apply").random_resized_crop(25),
          Recipe().decode("faithful", "apply").random_crop(16).random_flip().normalize("imagenet")}) {
      const Plan plan(recipe);
      CpuExecutor fast(plan);
      ReferenceExecutor reference(plan);
      const Bytes fields[] = {encoded};
      const SampleInput input{.fields = fields, .draw = {1, 2, 3}};
      const auto got = run_one(fast, input), want = run_one(reference, input);
      EXPECT_EQ(got[0].bytes, want[0].bytes) << "orientation " << orientation << recipe.to_toml();
    }
    // A turned image has its sides exchanged.
    const Plan plan(Recipe().decode("faithful", "apply").resize(28));
    CpuExecutor fast(plan);
    const Bytes fields[] = {encoded};
    const Shape shape = fast.shapes({.fields = fields})[0].shape;
    EXPECT_EQ(shape, orientation < 5 ? (Shape{3, 28, 45}) : (Shape{3, 45, 28})) << "orientation " << orientation;
  }
}

TEST(ExecutorAgreement, BothRefuseBadBytes) {
  const Plan plan(Recipe().decode().resize(8, 8));
  CpuExecutor fast(plan);
  ReferenceExecutor reference(plan);
  std::vector<std::uint8_t> cut = noisy_jpeg(64, 64, 1);
  cut.resize(cut.size() - 2);
  for (const std::vector<std::uint8_t>& bytes : {std::vector<std::uint8_t>{}, std::vector<std::uint8_t>(100, 7), cut}) {
    const Bytes fields[] = {bytes};
    for (SampleExecutor* executor : {static_cast<SampleExecutor*>(&fast), static_cast<SampleExecutor*>(&reference)}) {
      try {
        run_one(*executor, {.fields = fields});
        FAIL() << bytes.size() << " bad bytes were accepted";
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kBadSample) << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace stoker
