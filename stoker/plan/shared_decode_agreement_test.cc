// Views that share what is decoded give bit for bit what each gives alone: the reference executor decodes for each view
// by itself.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "stoker/base/random.h"
#include "stoker/base/rounds_testing.h"
#include "stoker/codec/damage_testing.h"
#include "stoker/codec/encoded_testing.h"
#include "stoker/codec/png_testing.h"
#include "stoker/plan/agreement_testing.h"
#include "stoker/plan/cpu_executor.h"
#include "stoker/plan/reference_executor.h"

namespace stoker {
namespace {

using Encoded = std::vector<std::uint8_t>;

// Every codec, and JPEGs that are decoded in each way.
std::vector<Encoded> images_of(ImageSize size, std::uint64_t seed) {
  std::vector<Encoded> images = agreement_images(size, seed);
  images.push_back(noisy_webp(size.width, size.height, seed));
  images.push_back(noisy_png(size.width, size.height, seed, 1));
  images.push_back(make_test_png({.name = "deep", .bit_depth = 16}, size.width, size.height).bytes);
  images.push_back(turned_jpeg(size.width, size.height, seed, 2 + static_cast<int>(seed % 7)));
  return images;
}

Encoded entry_points_of(const Encoded& encoded) {
  Encoded points;
  AnyImageDecoder decoder;
  decoder.decodes_cleanly(encoded, decoder.read_facts(encoded), points);
  return points;
}

void expect_views_as_alone(const Recipe& recipe, const Encoded& encoded, const SampleDraw& draw, bool by_entry_points) {
  const Plan plan(recipe);
  CpuExecutor fast(plan);
  ReferenceExecutor reference(plan);
  const Bytes fields[] = {encoded};
  const Encoded points = by_entry_points ? entry_points_of(encoded) : Encoded();
  const SampleInput input{
      .fields = fields, .entry_points = points, .entry_points_of = points.empty() ? -1 : 0, .draw = draw};
  const std::string what = fmt::format("seed {}, entry points {}\n{}", draw.seed, by_entry_points, recipe.to_toml());
  expect_outputs(fast, input, outputs_or_refusal(reference, input), what);
}

TEST(SharedDecodeAgreement, HoldsForManyViewsOfAwkwardImages) {
  std::uint64_t seed = 0;
  std::vector<ImageSize> sizes = kAgreementSizes;
  sizes.push_back({300, 210});
  for (const ImageSize size : sizes) {
    for (const Recipe& recipe : several_view_recipes()) {
      ++seed;
      if (seed % (kSanitized ? 10 : 2) != 0) continue;  // over the sizes each recipe comes, and the other way round
      for (const Encoded& encoded : images_of(size, seed)) {
        for (const bool by_entry_points : {false, true}) {
          expect_views_as_alone(recipe, encoded, {seed, 1, seed * 7}, by_entry_points);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// Recipes of one view each, put together.
Recipe joined(const std::vector<Recipe>& recipes) {
  Recipe all = recipes.front();
  for (std::size_t i = 1; i < recipes.size(); ++i) {
    all.view(fmt::format("view{}", i), "image");
    for (const OperatorCall& call : recipes[i].views()[0].operators) all.add(call);
  }
  return all;
}

TEST(SharedDecodeAgreement, HoldsForRandomRecipes) {
  for (std::uint64_t seed = 0; seed < rounds(std::uint64_t{60}); ++seed) {
    Random random(seed, 8, 0, 0);
    std::vector<Recipe> recipes;
    for (std::uint64_t i = 0; i < 2 + seed % 4; ++i) recipes.push_back(random_recipe(random));
    const ImageSize size{1 + static_cast<int>(random.below(400)), 1 + static_cast<int>(random.below(400))};
    for (const Encoded& encoded : images_of(size, seed)) {
      expect_views_as_alone(joined(recipes), encoded, {seed, 1, 2}, random.below(2) == 1);
      if (HasFatalFailure()) return;
    }
  }
}

// What is damaged lies in some views' windows and not in others'.
TEST(SharedDecodeAgreement, HoldsForDamagedFiles) {
  const std::vector<Recipe> recipes = several_view_recipes();
  std::mt19937 damage(3);
  for (std::uint64_t seed = 0; seed < rounds(std::uint64_t{60}); ++seed) {
    for (Encoded& encoded : agreement_images({150, 120}, seed)) {
      const std::size_t size = encoded.size();
      expect_views_as_alone(recipes[seed % recipes.size()], damaged(std::move(encoded), size * 3 / 4, damage),
                            {seed, 1, 2}, false);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(SharedDecodeAgreement, HoldsForEveryOrientation) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Encoded encoded = turned_jpeg(145, 98, 5, orientation);
    for (const Recipe& recipe : several_view_recipes()) {
      expect_views_as_alone(recipe, encoded, {1, 2, 3}, orientation % 2 == 0);
    }
  }
}

}  // namespace
}  // namespace stoker
