#include "stoker/plan/sample_images.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"
#include "stoker/codec/decode_memory.h"
#include "stoker/codec/encoded_testing.h"
#include "stoker/plan/agreement_testing.h"
#include "stoker/plan/cpu_executor.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;
using Groups = std::vector<std::vector<std::size_t>>;
using Encoded = std::vector<std::uint8_t>;

constexpr int kWidth = 640, kHeight = 480;

Encoded photograph() { return noisy_jpeg(kWidth, kHeight, 1, {.subsampling = ChromaSubsampling::k420}); }

Encoded entry_points_of(const Encoded& encoded) {
  Encoded points;
  AnyImageDecoder decoder;
  decoder.decodes_cleanly(encoded, decoder.read_facts(encoded), points);
  return points;
}

// Adds a view that shows this window as it is.
Recipe& add_crop(Recipe& recipe, const char* name, Rect window, const char* mode = "planar",
                 const char* orientation = "ignore") {
  return recipe.view(name, "image").decode(mode, orientation).crop(window.x, window.y, window.width, window.height);
}

constexpr Rect kFirstCorner{0, 0, 40, 40}, kLastCorner{kWidth - 40, kHeight - 40, 40, 40};

Recipe two_crops(Rect first, Rect second) {
  Recipe recipe;
  add_crop(recipe, "image", first);
  add_crop(recipe, "other", second);
  return recipe;
}

// By decode the views that share it.
Groups groups_of(const Recipe& recipe, const Encoded& encoded, const Encoded& entry_points = {}) {
  const Plan plan(recipe);
  SampleImages images(plan);
  const Bytes fields[] = {encoded};
  images.begin({.fields = fields, .entry_points = entry_points, .entry_points_of = 0});
  Groups groups;
  for (const SharedDecode& decode : images.decodes()) groups.emplace_back(decode.views.begin(), decode.views.end());
  return groups;
}

// Views 0 and 2; 1 is the label.
const Groups kTogether = {{0, 2}}, kApart = {{0}, {2}};

TEST(SampleImages, NeighboursShareADecode) {
  const Recipe recipe = two_crops({10, 10, 300, 200}, {100, 50, 300, 200});
  const Encoded encoded = photograph();
  EXPECT_EQ(groups_of(recipe, encoded), kTogether);
  EXPECT_EQ(groups_of(recipe, encoded, entry_points_of(encoded)), kTogether);
  EXPECT_EQ(groups_of(recipe, noisy_png(kWidth, kHeight, 1)), kTogether);
}

TEST(SampleImages, CornersAreDecodedApartWhereTheRestCanBeSkipped) {
  const Recipe recipe = two_crops(kFirstCorner, kLastCorner);
  const Encoded encoded = photograph();
  EXPECT_EQ(groups_of(recipe, encoded, entry_points_of(encoded)), kApart);
  EXPECT_EQ(groups_of(recipe, encoded), kApart) << "what comes first is read soon";
  for (const Encoded& whole : {noisy_png(kWidth, kHeight, 1), noisy_webp(kWidth, kHeight, 1),
                               noisy_jpeg(kWidth, kHeight, 1, {.progressive = true})}) {
    EXPECT_EQ(groups_of(recipe, whole), kTogether) << "all of it is decoded for either";
  }
}

TEST(SampleImages, ManyViewsShareInGroups) {
  Recipe recipe = two_crops(kFirstCorner, kLastCorner);
  add_crop(recipe, "beside_first", {20, 10, 40, 40});
  add_crop(recipe, "beside_last", {kWidth - 60, kHeight - 50, 40, 40});
  const Encoded encoded = photograph();
  EXPECT_EQ(groups_of(recipe, encoded, entry_points_of(encoded)), (Groups{{0, 3}, {2, 4}}));
  add_crop(recipe, "whole", {0, 0, kWidth, kHeight});
  EXPECT_EQ(groups_of(recipe, encoded, entry_points_of(encoded)), (Groups{{0, 2, 3, 4, 5}}));
}

TEST(SampleImages, OnlyWhatIsDecodedAlikeIsShared) {
  Recipe recipe;
  add_crop(recipe, "image", {0, 0, 20, 20});
  add_crop(recipe, "rgb", {0, 0, 20, 20}, "faithful");
  add_crop(recipe, "turned", {0, 0, 20, 20}, "planar", "apply");
  add_crop(recipe, "turned_rgb", {0, 0, 20, 20}, "faithful:13", "apply");
  EXPECT_EQ(groups_of(recipe, turned_jpeg(90, 60, 1, 6)), (Groups{{0}, {2}, {3}, {4}}));
  EXPECT_EQ(groups_of(recipe, turned_jpeg(90, 60, 1, 1)), (Groups{{0, 3}, {2, 4}})) << "nothing is turned";
  EXPECT_EQ(groups_of(recipe, noisy_png(90, 60, 1)), (Groups{{0, 2, 3, 4}})) << "there are no planes";
}

TEST(SampleImages, ViewsShareADecodeOfOneSize) {
  Recipe recipe;
  const auto add = [&](const char* name, int height, int width, const char* scale) {
    recipe.view(name, "image").decode("planar", "ignore", scale).resize(height, width);
  };
  add("image", 60, 80, "auto");
  add("smaller", 30, 40, "auto");
  add("narrow", 45, 40, "auto");
  add("full", 60, 80, "full");
  add("larger", 960, 1280, "auto");
  const Encoded encoded = photograph();
  EXPECT_EQ(groups_of(recipe, encoded), (Groups{{0, 2, 3}, {4, 5}}));
  Recipe quarter = Recipe().decode("planar", "ignore", "auto").resize(60, 160);
  const Plan plan(quarter);
  SampleImages images(plan);
  const Bytes fields[] = {encoded};
  images.begin({.fields = fields});
  const SharedDecode& decode = images.decodes().front();
  EXPECT_EQ(decode.window, (Rect{0, 0, kWidth, kHeight})) << "which counts pixels of the image";
  EXPECT_EQ(decode.paths.front()->decoded_bytes(decode.paths), 3u * 160 * 120) << "chroma is no coarser then";
}

TEST(SampleImages, FieldsAreDecodedApart) {
  Recipe recipe;
  add_crop(recipe, "image", {0, 0, 20, 20});
  recipe.view("mask", "png").decode().crop(0, 0, 20, 20);
  recipe.view("contour", "png").decode().crop(5, 5, 20, 20);
  const Plan plan(recipe);
  SampleImages images(plan);
  const Encoded image = photograph(), mask = noisy_png(90, 60, 1);
  const Bytes fields[] = {image, mask};
  images.begin({.fields = fields});
  ASSERT_EQ(images.decodes().size(), 2u);
  EXPECT_THAT(images.decodes()[0].views, ElementsAre(0));
  EXPECT_THAT(images.decodes()[1].views, UnorderedElementsAre(2, 3));
  EXPECT_EQ(images.decodes()[1].window, (Rect{0, 0, 25, 25}));
}

TEST(SampleImages, DecodesAWindowThatHoldsAllAndAsksForItsMemory) {
  const Plan plan(two_crops({10, 20, 300, 200}, {101, 50, 300, 200}));
  SampleImages images(plan);
  const Encoded encoded = photograph();
  const Bytes fields[] = {encoded};
  images.begin({.fields = fields});
  ASSERT_EQ(images.decodes().size(), 1u);
  const Rect window = images.decodes().front().window;
  EXPECT_EQ(window, (Rect{10, 20, 391, 230}));
  const SharedDecode& decode = images.decodes().front();
  EXPECT_EQ(decode.paths.front()->decoded_bytes(decode.paths), 391u * 230 + 2 * 197 * 117)
      << "chroma samples 4 to 200 and 9 to 125";
  const ImageFacts facts = AnyImageDecoder().read_facts(encoded);
  EXPECT_EQ(images.memory(), decode_planes_memory(facts, encoded.size(), window));
  EXPECT_EQ(images.memory_max(), decode_planes_memory(facts, encoded.size(), {0, 0, kWidth, kHeight}));
}

TEST(SampleImages, CountsADecodeOnce) {
  const Plan plan(two_crops({10, 10, 300, 200}, {100, 50, 300, 200}));
  CpuExecutor executor(plan);
  const Encoded encoded = photograph(), points = entry_points_of(encoded);
  const Bytes fields[] = {encoded};
  run_one(executor, {.fields = fields, .entry_points = points, .entry_points_of = 0});
  EXPECT_EQ(executor.counts().entry_points_used, 1);
  const Encoded progressive = noisy_jpeg(kWidth, kHeight, 1, {.progressive = true});
  const Bytes other[] = {progressive};
  run_one(executor, {.fields = other});
  EXPECT_EQ(executor.counts().jpeg_fallbacks, 1);
}

TEST(SampleImages, TheGateIsAskedOnceForTheLargestDecode) {
  struct Gate final : MemoryGate {
    std::vector<std::uint64_t> asked;
    std::int64_t enter(std::uint64_t bytes) override {
      asked.push_back(bytes);
      return 0;
    }
  };
  Recipe recipe = two_crops({10, 10, 300, 200}, {100, 50, 300, 200});
  add_crop(recipe, "rgb", {0, 0, 500, 400}, "faithful");
  const Plan plan(recipe);
  Gate gate;
  CpuExecutor executor(plan, {}, &gate);
  const Encoded encoded = photograph();
  const Bytes fields[] = {encoded};
  run_one(executor, {.fields = fields});
  EXPECT_THAT(gate.asked,
              ElementsAre(decode_rgb_memory(AnyImageDecoder().read_facts(encoded), encoded.size(), {0, 0, 500, 400})));
}

}  // namespace
}  // namespace stoker
