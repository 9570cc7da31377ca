// The fast executor, whole or stage by stage, against the obviously correct one: bit for bit, on every instruction set.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/isa_testing.h"
#include "stoker/base/random.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/codec/encoded_testing.h"
#include "stoker/plan/agreement_testing.h"
#include "stoker/plan/cpu_executor.h"
#include "stoker/plan/reference_executor.h"
#include "stoker/plan/sample_images.h"

namespace stoker {
namespace {

// The finished tensor by the stages one at a time, each from the last one's output, in memory granted beforehand.
std::vector<std::uint8_t> run_stages(const Plan& plan, const SampleInput& input) {
  SampleImages images(plan);
  images.begin(input);
  const SharedDecode& decode = images.decodes().front();
  ImageStages& stages = images.stages(decode.views.front());
  std::vector<std::uint8_t> resized(stages.outputs().geometry.bytes()), finished(stages.outputs().color.bytes());
  images.decode(decode);
  EXPECT_EQ(stages.outputs().decode.dtype, DType::kU8);
  stages.path().geometry(stages.path().resized_view(resized.data()));
  stages.color(stages.path().resized_view(resized.data()), finished.data());
  return finished;
}

void expect_agreement(const Plan& plan, CpuExecutor& fast, const SampleInput& input,
                      const std::optional<std::vector<SampleOutput>>& want, const std::string& what) {
  expect_outputs(fast, input, want, what);
  if (!want || testing::Test::HasFatalFailure()) return;
  ASSERT_EQ(run_stages(plan, input), want->front().bytes) << "stage by stage: " << what;
}

// The instruction sets that this machine has.
std::vector<std::string> isas_to_test() {
  const std::vector<std::string> there = available_isas();
  std::vector<std::string> isas;
  for (const char* isa : kIsaNames) {
    const bool runs = std::find(there.begin(), there.end(), isa) != there.end();
    std::printf("instruction set %s: %s\n", isa, runs ? "runs" : "skipped, this machine does not have it");
    if (runs) isas.emplace_back(isa);
  }
  return isas;
}

// An executor that was made, and is used, with one instruction set.
struct IsaExecutor {
  IsaExecutor(const std::string& name, const Plan& plan) : isa((select_isa(name), name)), fast(plan) {}

  std::string isa;
  CpuExecutor fast;
};

// The reference is the same for all instruction sets, and slower than they are together.
void expect_agreement_of_sizes(const Recipe& recipe, const std::vector<std::string>& isas, std::uint64_t& seed) {
  const Plan plan(recipe);
  std::deque<IsaExecutor> executors;
  for (const std::string& isa : isas) executors.emplace_back(isa, plan);
  ReferenceExecutor reference(plan);
  for (const ImageSize size : kAgreementSizes) {
    ++seed;
    if (kSanitized && seed % 5 != 0) continue;  // twelve sizes: over the recipes each of them comes
    for (const auto& encoded : agreement_images(size, seed)) {
      const Bytes fields[] = {encoded};
      const SampleInput input{.fields = fields, .label = 3, .draw = {seed, 1, seed * 7}};
      const auto want = outputs_or_refusal(reference, input);
      for (IsaExecutor& executor : executors) {
        select_isa(executor.isa);
        expect_agreement(plan, executor.fast, input, want,
                         fmt::format("{}\n{} x {} on {}", recipe.to_toml(), size.width, size.height, executor.isa));
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

void expect_agreement_of_recipes(const std::vector<Recipe>& recipes) {
  const std::string best = active_isa();
  const std::vector<std::string> isas = isas_to_test();
  std::uint64_t seed = 0;
  for (const Recipe& recipe : recipes) {
    expect_agreement_of_sizes(recipe, isas, seed);
    if (testing::Test::HasFatalFailure()) break;
  }
  select_isa(best);
}

TEST(ExecutorAgreement, HoldsForEveryRecipeImageAndInstructionSet) { expect_agreement_of_recipes(agreement_recipes()); }

TEST(ExecutorAgreement, HoldsForEveryOperatorOnPictures) { expect_agreement_of_recipes(picture_recipes()); }

TEST(ExecutorAgreement, HoldsForWarpsBeforeGeometry) { expect_agreement_of_recipes(source_warp_recipes()); }

TEST(ExecutorAgreement, HoldsForEveryOperatorThatErases) { expect_agreement_of_recipes(erase_recipes()); }

TEST(ExecutorAgreement, HoldsForOperatorsOnPicturesOfUnusualImages) {
  std::uint64_t seed = 0;
  std::vector<Recipe> recipes = picture_recipes();
  for (Recipe& recipe : source_warp_recipes()) recipes.push_back(std::move(recipe));
  for (const Recipe& recipe : recipes) {
    const Plan plan(recipe);
    CpuExecutor fast(plan);
    ReferenceExecutor reference(plan);
    for (const ImageSize size : {ImageSize{1, 1}, {1, 60}, {200, 3}, {40, 30}}) {
      for (const auto& encoded : unusual_images(size, ++seed)) {
        const Bytes fields[] = {encoded};
        const SampleInput input{.fields = fields, .label = 3, .draw = {seed, 1, seed * 7}};
        expect_agreement(plan, fast, input, outputs_or_refusal(reference, input),
                         fmt::format("{}\n{} x {}", recipe.to_toml(), size.width, size.height));
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(ExecutorAgreement, HoldsForRandomRecipesOnRandomImages) {
  for (std::uint64_t seed = 0; seed < rounds(std::uint64_t{100}); ++seed) {
    Random random(seed, 0, 0, 0);
    const Recipe recipe = random_recipe(random);
    const Plan plan(recipe);
    CpuExecutor fast(plan);
    ReferenceExecutor reference(plan);
    const ImageSize size{1 + static_cast<int>(random.below(300)), 1 + static_cast<int>(random.below(300))};
    for (const auto& encoded : agreement_images(size, seed)) {
      const Bytes fields[] = {encoded};
      const SampleInput input{.fields = fields, .draw = {seed, 1, 2}};
      const auto got = run_one(fast, input), want = run_one(reference, input);
      ASSERT_EQ(got[0].spec.shape, want[0].spec.shape);
      ASSERT_EQ(got[0].bytes, want[0].bytes) << seed << ": " << size.width << " x " << size.height << recipe.to_toml();
    }
  }
}

TEST(ExecutorAgreement, HoldsForEveryOrientation) {
  const OperatorCall turn = {"random_rotation", {{"degrees", 60.0}, {"filter", "bilinear"}}};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const std::vector<std::uint8_t> encoded = turned_jpeg(45, 28, 5, orientation);
    for (const Recipe& recipe :
         {Recipe().decode("planar", "apply").resize(20, 31), Recipe().decode("planar", "apply").random_resized_crop(25),
          Recipe().decode("planar", "apply").random_crop(16).random_flip().normalize("imagenet").layout("nhwc"),
          Recipe().decode("planar", "apply", "auto").resize(9, 5), Recipe().decode("planar", "apply", "auto").resize(3),
          Recipe().decode("faithful", "apply").resize(20, 31),
          Recipe().decode("faithful", "apply").random_resized_crop(25),
          Recipe().decode("faithful", "apply").random_crop(16).random_flip().normalize("imagenet"),
          Recipe().decode("planar", "apply").resize(20, 31).brightness({0.5}).invert(),
          Recipe().decode("faithful", "apply").resize(20, 31).brightness({0.5}).invert(),
          Recipe().decode("planar", "apply").add(turn).random_resized_crop(25).random_flip(),
          Recipe().decode("faithful", "apply").add(turn).random_resized_crop(25).random_flip()}) {
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
    const Shape shape = run_one(fast, {.fields = fields})[0].spec.shape;
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
