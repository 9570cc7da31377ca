#include "stoker/plan/agreement_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "stoker/codec/encoded_testing.h"
#include "stoker/codec/png_testing.h"
#include "stoker/ops/erase/erase_cases_testing.h"
#include "stoker/ops/picture/picture_cases_testing.h"

namespace stoker {

const std::vector<ImageSize> kAgreementSizes = {{1, 1},   {1, 9},   {7, 1},   {2, 3},    {15, 16}, {16, 17},
                                                {31, 33}, {64, 63}, {65, 48}, {130, 20}, {3, 200}, {97, 71}};

namespace {

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
      base().center_crop(9, 7).flip().pad({5, 1, 2, 0}, {10, 20, 30}),               // not what lies around the crop
      base().resize(30, 30).center_crop(12).pad({4}, {9, 8, 7}).random_crop(14),
      base().resize(20, 20).flip("vertical").resize(11, 37, "bilinear"),
      base().flip().resize(23, 18, "box").flip("vertical").center_crop(15).flip().resize(31, 9, "nearest"),
      base().resize(5, 5).normalize({0}, {1}, 1),  // the same numbers, as f32
      base().resize(50, 50).center_crop(30).resize(19, 19, "bicubic").random_flip(),
      base()
          .random_choice({{"random_resized_crop", {{"size", 24.0}}}, {"resize", {{"size", Numbers{24, 24}}}}}, {2, 1})
          .random_apply({{"random_order", {{"operators", OperatorCalls{{"flip", {}}, {"random_flip", {}}}}}}}),
  };
}

}  // namespace

std::vector<Recipe> agreement_recipes() {
  std::vector<Recipe> recipes;
  for (const char* mode : {"planar", "faithful", "faithful:12.2", "faithful:13"}) {
    for (Recipe& recipe : recipes_in(mode)) recipes.push_back(std::move(recipe));
  }
  // Each decodes images of some of the sizes at 1/2, of others at 1/4 and 1/8.
  const auto scaled = [] { return Recipe().decode("planar", "ignore", "auto"); };
  for (Recipe& recipe : std::vector<Recipe>{
           scaled().resize(16, 16), scaled().resize(4, 9, "bicubic"), scaled().resize(7, 5, "nearest").flip(),
           scaled().resize(8, 8, "box"), scaled().random_resized_crop(6, {0.2, 1}).random_flip().normalize("imagenet"),
           scaled().resize(3, 3).pad({1, 2, 3, 4}, {10, 20, 30})}) {
    recipes.push_back(std::move(recipe));
  }
  return recipes;
}

std::vector<Recipe> picture_recipes() {
  const std::vector<PictureCase>& cases = picture_cases();
  std::vector<Recipe> recipes;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Recipe recipe = Recipe().decode(i % 2 == 0 ? "planar" : "faithful");
    if (i % 3 == 0) {
      recipe.resize(19, 26);
    } else {
      recipe.random_resized_crop(21 + static_cast<int>(i % 5)).random_flip();
    }
    recipe.add(cases[i].call);
    if (i % 4 == 0) recipe.add(cases[(i * 5 + 1) % cases.size()].call);
    if (i % 3 != 1) recipe.normalize("imagenet");
    if (i % 5 == 0) recipe.cast("f16");
    if (i % 5 < 2) recipe.layout("nhwc");
    recipes.push_back(recipe);
  }
  return recipes;
}

namespace {

std::vector<Recipe> source_warps_in(const char* mode, const char* orientation) {
  const auto base = [&] { return Recipe().decode(mode, orientation); };
  const OperatorCall turn = {"random_rotation", {{"degrees", 60.0}, {"filter", "bilinear"}, {"fill", 200.0}}};
  const OperatorCall lean = {"shear_x", {{"factor", Numbers{-0.5, 0.5}}, {"filter", "bilinear"}, {"fill", 200.0}}};
  const auto affine = [](double scale, const char* filter) -> OperatorCall {
    return {"affine",
            {{"angle", -12.0},
             {"translate", Numbers{3.5, -2}},
             {"scale", scale},
             {"shear", Numbers{10, -7}},
             {"filter", filter},
             {"fill", Numbers{10, 200, 90}}}};
  };
  return {
      base().add(turn).random_resized_crop(21).random_flip(),
      base().add(turn).add(lean).resize(19, 26, "bicubic").normalize("imagenet"),
      base().flip().resize(50, 60).flip("vertical").add(affine(1.3, "bicubic")).center_crop(40).random_flip(),
      base().add({"random_apply", {{"operators", OperatorCalls{turn, lean}}}}).resize(24, 30).pad({3, 1}, {10, 20, 30}),
      base().add({"random_choice", {{"operators", OperatorCalls{turn, lean}}}}).random_crop(22, 15, 9).flip(),
      base().add(affine(0.05, "bilinear")).resize(1, 1, "box"),
      base().add(affine(40, "nearest")).resize(90, 3).cast("f16"),
      base().random_resized_crop(33, {0.01, 0.1}).add(affine(2, "bilinear")).random_resized_crop(18, {0.1, 0.3}),
      base().add({"translate_x", {{"pixels", Numbers{-300, 300}}, {"fill", 77.0}}}).resize(20, 20).layout("nhwc"),
      base().add({"random_perspective", {{"p", 0.9}, {"distortion_scale", 1.0}, {"fill", 255.0}}}).resize(23, 18),
      // Beyond the horizon.
      base().add({"perspective", {{"endpoints", Numbers{9, 3, 6, 0, 20, 40, 0, 12}}, {"fill", 40.0}}}).resize(31, 9),
      base().add(turn).random_resized_crop(25).invert().add(turn).gaussian_blur({3}).normalize("unit"),
  };
}

}  // namespace

std::vector<Recipe> source_warp_recipes() {
  std::vector<Recipe> recipes;
  for (Recipe& recipe : source_warps_in("planar", "apply")) recipes.push_back(std::move(recipe));
  for (Recipe& recipe : source_warps_in("faithful", "ignore")) recipes.push_back(std::move(recipe));
  return recipes;
}

std::vector<Recipe> erase_recipes() {
  // Then it writes deviates, which bytes cannot hold.
  const auto has_mode = [](const OperatorCall& call) {
    return std::any_of(call.args.begin(), call.args.end(), [](const auto& arg) { return arg.first == "mode"; });
  };
  constexpr const char* kTypes[] = {"f32", "f16", "bf16", "u8"};
  const std::vector<EraseCase>& cases = erase_cases();
  std::vector<Recipe> recipes;
  for (std::size_t i = 0; i < 2 * cases.size(); ++i) {
    const OperatorCall& call = cases[i % cases.size()].call;
    Recipe recipe = Recipe().decode(i % 2 == 0 ? "planar" : "faithful");
    if (i % 3 == 0) {
      recipe.resize(17, 29);
    } else {
      recipe.random_resized_crop(23 + static_cast<int>(i % 5)).random_flip();
    }
    if (i % 4 == 0) recipe.invert();
    recipe.normalize("imagenet").add(call);
    const OperatorCall& next = cases[(i + 1) % cases.size()].call;
    if (i % 3 == 2) recipe.add(next);
    const bool bytes_suffice = !has_mode(call) && !has_mode(next);
    recipe.cast(kTypes[(i / cases.size() + i) % (bytes_suffice ? 4 : 3)]);
    if (i / cases.size() == i % 2) recipe.layout("nhwc");
    recipes.push_back(recipe);
  }
  return recipes;
}

std::vector<Recipe> several_view_recipes() {
  std::vector<Recipe> recipes;
  for (const char* mode : {"planar", "faithful", "faithful:13"}) {
    for (const char* orientation : {"ignore", "apply"}) {
      Recipe pair;
      for (const char* name : {"image", "other"}) {
        pair.view(name).decode(mode, orientation).random_resized_crop(24).random_flip().normalize("imagenet");
      }
      recipes.push_back(pair);
      Recipe crops = pair;
      for (const char* name : {"local_0", "local_1", "local_2", "local_3"}) {
        crops.view(name).decode(mode, orientation).random_resized_crop(9, {0.01, 0.1}).random_flip().cast("f16");
      }
      recipes.push_back(crops);
    }
  }
  Recipe unlike = Recipe().decode().resize(20, 30);
  unlike.view("rgb").decode("faithful").resize(20, 30, "bicubic").flip();
  unlike.view("turned").decode("planar", "apply").resize(17, 23).pad({2}, {10, 20, 30});
  unlike.view("padding").decode().resize(20, 20).pad({30, 30, 30, 30}).crop(2, 3, 20, 25);
  unlike.view("pixels").decode("faithful:13", "apply").random_resized_crop(15, {0.05, 0.5}).layout("nhwc");
  unlike.view("corner")
      .decode()
      .random_resized_crop(12, {0.01, 0.05}, {0.5, 2}, "nearest")
      .random_flip(0.5, "vertical");
  recipes.push_back(unlike);
  return recipes;
}

std::vector<std::vector<std::uint8_t>> agreement_images(ImageSize size, std::uint64_t seed) {
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

std::vector<std::vector<std::uint8_t>> unusual_images(ImageSize size, std::uint64_t seed) {
  std::vector<std::vector<std::uint8_t>> images;
  for (const int color_type : {0, 2, 4, 6}) {
    for (const int depth : {8, 16}) {
      if (color_type == 2 && depth == 8) continue;
      images.push_back(make_test_png({.name = "", .color_type = color_type, .bit_depth = depth}, size.width,
                                     size.height, static_cast<unsigned>(seed))
                           .bytes);
    }
  }
  return images;
}

Recipe random_recipe(Random& random) {
  const auto between = [&](int low, int high) {
    return low + static_cast<int>(random.below(static_cast<std::uint64_t>(high - low + 1)));
  };
  constexpr const char* kFilters[] = {"nearest", "box", "bilinear", "bicubic"};
  const std::string_view filter = kFilters[random.below(4)];
  constexpr const char* kModes[] = {"planar", "planar", "faithful", "faithful:13"};
  const std::string_view mode = kModes[random.below(4)];
  Recipe recipe = Recipe().decode(mode, "ignore", mode == "planar" && random.below(2) ? "auto" : "full");
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

std::vector<std::uint8_t> turned_jpeg(int width, int height, std::uint64_t seed, int orientation) {
  std::vector<std::uint8_t> encoded = noisy_jpeg(width, height, seed, {.subsampling = ChromaSubsampling::k420});
  // An Exif segment with one entry, the orientation, right after the start-of-image marker.
  const std::vector<std::uint8_t> exif = {
      0xFF, 0xE1, 0, 34, 'E', 'x',  'i',  'f', 0, 0, 'M', 'M', 0, 42, 0,
      0,    0,    8, 0,  1,   0x01, 0x12, 0,   3, 0, 0,   0,   1, 0,  static_cast<std::uint8_t>(orientation),
      0,    0,    0, 0,  0,   0};
  encoded.insert(encoded.begin() + 2, exif.begin(), exif.end());
  return encoded;
}

namespace {

void compare_outputs(const std::vector<SampleOutput>& got, const std::vector<SampleOutput>& want,
                     const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].spec.shape, want[i].spec.shape) << "view " << i << " of " << what;
    ASSERT_EQ(got[i].bytes, want[i].bytes) << "view " << i << " of " << what;
  }
}

}  // namespace

std::optional<std::vector<SampleOutput>> outputs_or_refusal(SampleExecutor& executor, const SampleInput& input) {
  try {
    return run_one(executor, input);
  } catch (const Error&) {
    return std::nullopt;
  }
}

void expect_outputs(SampleExecutor& executor, const SampleInput& input,
                    const std::optional<std::vector<SampleOutput>>& want, const std::string& what) {
  if (want) {
    compare_outputs(run_one(executor, input), *want, what);
  } else {
    EXPECT_THROW(run_one(executor, input), Error) << what;
  }
}

}  // namespace stoker
