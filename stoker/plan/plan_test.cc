#include "stoker/plan/plan.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "stoker/base/error.h"
#include "stoker/codec/encoded_testing.h"
#include "stoker/plan/cpu_executor.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> stage_names(const Plan& plan) {
  std::vector<std::string> names;
  for (const StageSpec& stage : plan.stages()) names.push_back(stage.name);
  return names;
}

TEST(Plan, NamesStagesByTheirViewWhereThereAreSeveral) {
  EXPECT_THAT(stage_names(Plan(Recipe().decode().resize(8, 8))), ElementsAre("decode", "geometry", "color"));
  Recipe two = Recipe().decode().resize(8, 8);
  two.view("small", "image").decode().resize(4, 4);
  EXPECT_THAT(stage_names(Plan(two)), ElementsAre("image.decode", "image.geometry", "image.color", "small.decode",
                                                  "small.geometry", "small.color"));
}

std::vector<int> window_of(const ViewPlan& view, std::uint64_t position) {
  const SamplingMap map = view.image.geometry.draw({300, 200}, {.seed = 1, .epoch = 0, .position = position});
  return {map.x.clamp_begin, map.x.clamp_end, map.y.clamp_begin, map.y.clamp_end, map.x.flip};
}

TEST(Plan, DrawsAlikeForViewsOfOneGroup) {
  const auto with_mask = [](std::string_view group) {
    Recipe recipe = Recipe().decode().random_resized_crop(32).random_flip();
    recipe.view("mask", "png").draw_group(group).decode("faithful");
    recipe.random_resized_crop(16, {0.08, 1}, {3.0 / 4, 4.0 / 3}, "nearest").random_flip();
    return Plan(recipe);
  };
  const Plan alone(Recipe().decode().random_resized_crop(32).random_flip());
  const Plan shared = with_mask("image"), apart = with_mask("mask"), both = with_mask("");
  int differ = 0;
  for (std::uint64_t position = 0; position < 16; ++position) {
    const std::vector<int> image = window_of(alone.views()[0], position);
    EXPECT_EQ(window_of(shared.views()[0], position), image) << "sharing does not change what is shared";
    EXPECT_EQ(window_of(shared.views()[2], position), image);
    EXPECT_EQ(window_of(both.views()[2], position), window_of(apart.views()[2], position));
    differ += window_of(apart.views()[2], position) != image ? 1 : 0;
  }
  EXPECT_GT(differ, 12);
}

TEST(Plan, DeclaresWhatEachStagePutsOut) {
  const Plan fixed(Recipe().decode().resize(8, 6).normalize("imagenet"));
  EXPECT_EQ(fixed.stages()[0].bytes_out, std::nullopt) << "depends on the image";
  EXPECT_EQ(fixed.stages()[1].bytes_out, 8 * 6 * 3);
  EXPECT_EQ(fixed.stages()[2].bytes_out, 8 * 6 * 3 * 4);
  EXPECT_THAT(fixed.stages()[1].operators, ElementsAre(HasSubstr("resize")));
  EXPECT_EQ(Plan(Recipe().decode().resize(8)).stages()[2].bytes_out, std::nullopt);
}

TEST(ImageStages, DeclareForASampleWhatEachPutsOut) {
  const Plan plan(Recipe().decode().crop(10, 20, 33, 17).resize(8).normalize("imagenet").cast("f16"));
  SampleImages images(plan);
  const auto outputs_of = [&](const std::vector<std::uint8_t>& encoded) {
    const Bytes fields[] = {encoded};
    images.begin({.fields = fields});
    return images.stages(0).outputs();
  };
  const StageOutputs outputs = outputs_of(noisy_png(90, 60, 1));
  EXPECT_EQ(outputs.decode.shape, (Shape{17, 33, 3}));
  EXPECT_EQ(outputs.decode.bytes(), 17u * 33 * 3);
  EXPECT_EQ(outputs.geometry.shape, (Shape{8, 15, 3}));
  EXPECT_EQ(outputs.geometry.dtype, DType::kU8);
  EXPECT_EQ(outputs.color.shape, (Shape{3, 8, 15}));
  EXPECT_EQ(outputs.color.dtype, DType::kF16);

  const StageOutputs planar = outputs_of(noisy_jpeg(90, 60, 1, {.subsampling = ChromaSubsampling::k420}));
  EXPECT_EQ(planar.decode.shape, (Shape{17 * 33 + 2 * 18 * 10})) << "chroma samples 4 to 21 and 9 to 18";
  EXPECT_EQ(planar.geometry.shape, (Shape{3, 8, 15}));
  EXPECT_EQ(planar.color.shape, (Shape{3, 8, 15}));
}

TEST(Plan, ReadsAFieldOnceForAllItsViews) {
  Recipe recipe = Recipe().decode().resize(8, 8);
  recipe.view("small", "image").decode().resize(4, 4);
  recipe.view("mask", "mask.png").decode().resize(4, 4, "nearest");
  EXPECT_THAT(Plan(recipe).fields(), ElementsAre("image", "mask.png"));
}

// An operator that occurs twice draws twice: two flips that always agreed would never flip at all.
TEST(Plan, DrawsEachOccurrenceOfAnOperatorAnew) {
  const Plan plan(Recipe().decode().random_flip(0.5).random_flip(0.5));
  const std::vector<std::uint8_t> encoded = noisy_png(9, 5, 1);
  const Bytes fields[] = {encoded};
  CpuExecutor executor(plan);
  std::set<std::vector<std::uint8_t>> seen;
  for (std::uint64_t position = 0; position < 40; ++position)
    seen.insert(run_one(executor, {.fields = fields, .draw = {1, 1, position}})[0].bytes);
  EXPECT_EQ(seen.size(), 2u);
}

TEST(Plan, TellsTheTypeByTheOperatorsNotByTheirArguments) {
  const auto type_of = [](const Recipe& recipe) { return Plan(recipe).outputs()[0].dtype; };
  const Recipe small = Recipe().decode().resize(4, 4);
  EXPECT_EQ(type_of(small), DType::kU8);
  EXPECT_EQ(type_of(Recipe(small).channel_order("bgr")), DType::kU8);
  EXPECT_EQ(type_of(Recipe(small).channel_order("rgb")), DType::kU8);
  EXPECT_EQ(type_of(Recipe(small).normalize({0}, {1}, 1)), DType::kF32);
  EXPECT_EQ(type_of(Recipe(small).normalize("unit")), DType::kF32);
  EXPECT_EQ(type_of(Recipe(small).normalize({0}, {1}, 1).cast("u8")), DType::kU8);
}

std::string refusal_of_size(const Recipe& recipe) {
  try {
    const Plan plan(recipe);
    return fmt::format("{} bytes", plan.outputs()[0].bytes_per_sample());
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kLimit);
    return error.message();
  }
}

TEST(Plan, LimitsTheOutputs) {
  const auto square = [](int side) { return Recipe().decode().resize(side, side); };
  EXPECT_EQ(refusal_of_size(square(18'918)), "1073672172 bytes");
  EXPECT_EQ(refusal_of_size(square(18'919)),
            "view 'image': its output of 18919 x 18919 pixels takes 1073785683 bytes a sample, above the limit of "
            "1073741824");
  EXPECT_THAT(refusal_of_size(square(10'000).cast("f32")), HasSubstr("takes 1200000000 bytes"));
  EXPECT_EQ(refusal_of_size(Recipe().decode().resize(2, 65'535)), "393210 bytes");
  EXPECT_EQ(refusal_of_size(Recipe().decode().resize(2, 65'535).pad({1, 0})),
            "view 'image': its output of 65537 x 2 pixels has a side above the limit of 65535");
  Recipe pads = square(8);
  for (int i = 0; i < 20'000; ++i) pads.pad({65'535});  // the sum of the sides would overflow
  EXPECT_THAT(refusal_of_size(pads), HasSubstr("view 'image': its operators make a side of"));
  EXPECT_THAT(refusal_of_size(pads.crop(0, 0, 8, 8)), HasSubstr("view 'image': its operators make a side of"));
}

TEST(Plan, LimitsOutputsThatDependOnTheImage) {
  const Plan plan(Recipe().decode().resize(8'000));
  const std::vector<std::uint8_t> encoded = noisy_png(90, 9, 1);
  const Bytes fields[] = {encoded};
  CpuExecutor executor(plan);
  try {
    run_one(executor, {.fields = fields});
    FAIL() << "an image of 80,000 x 8,000 was made";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kLimit);
    EXPECT_THAT(error.message(), HasSubstr("view 'image': its output of 80000 x 8000 pixels"));
  }
}

TEST(Plan, RefusesToResizePaddingBeforeAnySampleIsSeen) {
  const auto refusal = [](const Recipe& recipe) {
    try {
      const Plan plan(recipe);
      return std::string("accepted");
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      return error.message();
    }
  };
  const std::string sentence = "padding cannot be resized; put resize before the operator that pads";
  const Recipe padded = Recipe().decode().pad({2});
  EXPECT_EQ(refusal(Recipe(padded).resize(8)), "view 'image': resize(size=[8]): " + sentence);
  EXPECT_THAT(refusal(Recipe(padded).flip().random_flip().resize(8, 8)), HasSubstr(sentence));
  EXPECT_THAT(refusal(Recipe(padded).random_resized_crop(8)), HasSubstr("random_resized_crop(size=[8]): " + sentence));
  EXPECT_THAT(refusal(Recipe().decode().random_crop(8, 1).resize(4, 4)), HasSubstr(sentence));
  EXPECT_THAT(refusal(Recipe(padded).center_crop(8).pad({0, 1}).resize(4, 4)), HasSubstr(sentence));
  EXPECT_EQ(refusal(Recipe().decode().resize(8).pad({2}).flip()), "accepted");
  EXPECT_EQ(refusal(Recipe().decode().pad({0}).resize(8)), "accepted");
  EXPECT_EQ(refusal(Recipe().decode().random_crop(8).resize(4, 4)), "accepted");
  EXPECT_EQ(refusal(Recipe(padded).center_crop(8).resize(4, 4)), "accepted") << "the crop may cut the padding off";
}

TEST(Plan, RefusesOperatorsOutOfOrder) {
  try {
    const Plan plan(Recipe().decode().normalize("imagenet").resize(8, 8));
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("resize (geometry) must come before normalize (color)"));
  }
  try {
    const Plan plan(Recipe().decode().invert().resize(8, 8));
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("resize (geometry) must come before invert (picture)"));
  }
}

TEST(Plan, CountsOperatorsOnPicturesAmongTheColorStage) {
  const Plan plan(Recipe().decode().resize(8, 6).color_jitter({0.4}).invert().normalize("imagenet"));
  EXPECT_THAT(plan.stages()[2].operators,
              ElementsAre("color_jitter(brightness=[0.4])", "invert", HasSubstr("normalize")));
  EXPECT_EQ(plan.stages()[1].bytes_out, 8 * 6 * 3);
  EXPECT_EQ(plan.outputs()[0].dtype, DType::kF32);
  EXPECT_EQ(Plan(Recipe().decode().resize(8, 6).invert()).outputs()[0].dtype, DType::kU8);
}

// What operators on pictures need beside the picture is charged before it is taken.
TEST(SampleImages, CountTheMemoryOfPictures) {
  const std::vector<std::uint8_t> encoded = noisy_png(90, 60, 1);
  const auto memory_of = [&](const Recipe& recipe) {
    const Plan plan(recipe);
    SampleImages images(plan);
    const Bytes fields[] = {encoded};
    images.begin({.fields = fields});
    return images.memory();
  };
  const Recipe base = Recipe().decode().resize(512, 512);
  const std::uint64_t picture = std::uint64_t{3} * 512 * 512;
  EXPECT_EQ(memory_of(Recipe(base).invert()), memory_of(base) + 2 * picture);
}

}  // namespace
}  // namespace stoker
