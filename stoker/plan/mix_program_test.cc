// What a recipe says about its batches: as a chain, as TOML, and what the plan makes of it.
#include "stoker/plan/mix_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "stoker/base/error_testing.h"
#include "stoker/plan/cpu_executor.h"
#include "stoker/plan/plan.h"
#include "stoker/plan/reference_executor.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Recipe images() { return Recipe().decode().resize(8, 6).normalize("imagenet"); }
Recipe soft_labels() { return images().view("label").one_hot(5); }

std::string refusal(const Recipe& recipe) {
  return error_of([&] { const Plan plan(recipe); }).message();
}
std::string refusal(const std::string& toml) {
  return error_of([&] { Recipe::from_toml(toml); }).message();
}

std::vector<std::string> output_names(const Plan& plan) {
  std::vector<std::string> names;
  for (const OutputSpec& output : plan.outputs()) names.push_back(output.name);
  return names;
}

TEST(MixProgram, ComesFromTheChainAndFromToml) {
  const Recipe chain = soft_labels().mixup(0.2).mosaic(1, 0.5, "elem");
  ASSERT_EQ(chain.batch().size(), 2U);
  EXPECT_EQ(chain.batch()[0].number("alpha"), 0.2);
  EXPECT_EQ(chain.views()[1].operators.size(), 1U) << "a view has none of them";
  EXPECT_EQ(Recipe::from_toml(chain.to_toml()), chain);
  const Recipe toml = Recipe::from_toml(
      "batch = [ { op = 'mixup', alpha = 0.2 }, { op = 'mosaic', p = 0.5, mode = 'elem' } ]\n"
      "[[view]]\nname = 'image'\noperators = [{op = 'decode'}, {op = 'resize', size = [8, 6]}, {op = 'normalize', "
      "preset = 'imagenet'}]\n[[view]]\nname = 'label'\noperators = [{op = 'one_hot', classes = 5}]");
  EXPECT_EQ(toml, chain);
  EXPECT_NE(chain, soft_labels()) << "a recipe that mixes is another one";
}

TEST(MixProgram, KeepsOperatorsOfViewsAndBatchesApart) {
  EXPECT_THAT(refusal("batch = [ { op = 'flip' } ]\n[[view]]\nname = 'label'"),
              HasSubstr("line 1: flip works on single samples"));
  EXPECT_THAT(refusal("[[view]]\nname = 'label'\noperators = [ { op = 'mixup' } ]"),
              HasSubstr("line 3: mixup works on whole batches: it belongs in the list 'batch'"));
  EXPECT_THAT(refusal("batch = 'mixup'\n[[view]]\nname = 'label'"), HasSubstr("batch must be a list"));
  EXPECT_THAT(refusal("batch = [ { op = 'mixup', alpha = 0 } ]\n[[view]]\nname = 'label'"),
              HasSubstr("mixup: alpha is 0, but must be between 0.001 and 1000"));
}

TEST(MixProgram, MakesGroupsOfEachStepReachBeyondThoseBefore) {
  const Plan plan(soft_labels().mosaic().mixup().cutmix());
  const std::vector<MixStep>& steps = plan.mixing().steps;
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[0].distance, 1);
  EXPECT_EQ(steps[0].group, 4);
  EXPECT_EQ(steps[1].distance, 4);
  EXPECT_EQ(steps[1].group, 2);
  EXPECT_EQ(steps[2].distance, 8);
  EXPECT_EQ(plan.mixing().block(), 16);
  EXPECT_EQ(Plan(soft_labels()).mixing().block(), 1);
  EXPECT_NE(steps[0].stream, steps[1].stream);
  const Plan twice(soft_labels().mixup().mixup());
  EXPECT_NE(twice.mixing().steps[0].stream, twice.mixing().steps[1].stream);
}

TEST(MixProgram, MixesAllImagesOrThoseNamed) {
  Recipe recipe = soft_labels();
  recipe.view("small").decode().resize(4, 4).view("mask", "png").decode().resize(8, 6);
  const auto images_of = [&](std::string_view views) {
    return Plan(Recipe(recipe).mixup(1, 1, "batch", "soft", views)).mixing().steps[0].images;
  };
  EXPECT_THAT(images_of("all"), ElementsAre(0, 2, 3));
  EXPECT_THAT(images_of("mask"), ElementsAre(3));
  EXPECT_THAT(images_of("small, image"), ElementsAre(0, 2));
  EXPECT_THAT(refusal(Recipe(recipe).mixup(1, 1, "batch", "soft", "smal")),
              HasSubstr("no view 'smal' makes an image (did you mean 'small'?)"));
  EXPECT_THAT(refusal(Recipe(recipe).mixup(1, 1, "batch", "soft", "label")),
              HasSubstr("no view 'label' makes an image"));
}

TEST(MixProgram, RefusesWhatCannotBeMixed) {
  EXPECT_THAT(refusal(images().mixup()),
              HasSubstr("those of view 'label' are whole numbers: give the view one_hot, or write labels='pair'"));
  EXPECT_THAT(refusal(images().mosaic()), testing::EndsWith("give the view one_hot"));
  EXPECT_THAT(refusal(Recipe().decode().resize(8).view("label").one_hot(3).mixup()),
              HasSubstr("the size of view 'image' depends on the image"));
  EXPECT_THAT(refusal(Recipe::from_toml("batch = [{op = 'mixup'}]\n[[view]]\nname = 'label'")),
              HasSubstr("no view of the recipe makes an image"));
  EXPECT_THAT(refusal(soft_labels().mixup(1, 1, "batch", "pair")), HasSubstr("needs a label that is a whole number"));
  EXPECT_THAT(refusal(images().mixup(1, 1, "batch", "pair").cutmix(1, 1, "batch", "pair")),
              HasSubstr("labels='pair' is for a single operator"));
  EXPECT_THAT(refusal(images().view("lambda").decode().resize(3, 3).mixup(1, 1, "batch", "pair")),
              HasSubstr("adds an output 'lambda', but a view has that name"));
}

TEST(MixProgram, AddsThePartnersLabelAndTheShareForPairs) {
  const Plan plan(images().cutmix(1, 1, "batch", "pair"));
  EXPECT_THAT(output_names(plan), ElementsAre("image", "label", "label_b", "lambda"));
  EXPECT_EQ(plan.outputs()[2].dtype, DType::kI64);
  EXPECT_EQ(plan.outputs()[3].dtype, DType::kF32);
  EXPECT_EQ(plan.outputs()[3].shape, Shape{});
  EXPECT_EQ(plan.recipe().views().size(), 2U);
  Recipe numbers = images();
  numbers.view("label", "json").json_number("/a");
  EXPECT_THAT(output_names(Plan(numbers.mixup(1, 1, "batch", "pair"))),
              ElementsAre("image", "label", "label_b", "lambda"));
}

TEST(MixProgram, LetsOtherNumbersBe) {
  Recipe recipe = soft_labels();
  recipe.view("id", "json").json_number("/id").view("score", "json").json_number("/score", "f32").mixup();
  EXPECT_THAT(Plan(recipe).mixing().soft, ElementsAre(1));
  Recipe regression = images();
  regression.view("label", "json").json_number("/score", "f32").mixup();
  EXPECT_THAT(Plan(regression).mixing().soft, ElementsAre(1)) << "a label in float32 is mixed as it is";
}

FunctionSpec own_function(const std::vector<TakenValue>& takes, const std::vector<GivenValue>& gives,
                          bool whole_batch = false) {
  return {.name = "own",
          .python = "module:own",
          .whole_batch = whole_batch,
          .home = FunctionHome::kThread,
          .takes = takes,
          .gives = gives};
}

// Samples are mixed where their outputs lie, and what functions take lies elsewhere.
TEST(MixProgram, RefusesFunctionsOfWhatItMixes) {
  const auto with = [](Recipe recipe, const std::string& view, bool whole_batch) {
    return recipe.map(own_function({{view}}, {{"number", DType::kI64}}, whole_batch));
  };
  Recipe masks = soft_labels(), boxes = soft_labels(), twins = soft_labels();
  masks.view("mask", "png").like("image").decode_mask();
  boxes.view("boxes", "json").like("image").decode_boxes("coco").view("classes").like("boxes").box_labels();
  twins.view("other").decode().resize(8, 6);
  for (const bool whole_batch : {false, true}) {
    EXPECT_THAT(refusal(with(masks, "mask", whole_batch).cutmix()),
                HasSubstr("function 'own' takes view 'mask', which goes along with view 'image': what "
                          "functions take and give is not mixed"));
    EXPECT_THAT(refusal(with(soft_labels(), "label", whole_batch).mixup()),
                HasSubstr("function 'own' takes view 'label', a label: what"));
    EXPECT_THAT(refusal(with(twins, "image", whole_batch).mixup()),
                HasSubstr("takes view 'image', an image that it mixes: what functions take and give is not mixed. "
                          "Leave out mixup, and mix in the training loop or in a function of whole batches; or name"));
  }
  for (const char* view : {"boxes", "classes"}) {
    EXPECT_THAT(refusal(with(boxes, view, false).mosaic()), HasSubstr("goes along with view 'image'")) << view;
  }
  Recipe given = Recipe::from_toml(
      "[[view]]\nname = 'image'\noperators = [{op = 'decode'}, {op = 'resize', size = [8, 6]}]\n"
      "[[view]]\nname = 'class'\nfield = 'json'\noperators = [{op = 'json_number', key = '/class'}]");
  EXPECT_THAT(refusal(given.map(own_function({{"class"}}, {{"label", DType::kI64}})).mixup()),
              HasSubstr("function 'own' gives 'label', a label"));
}

TEST(MixProgram, LetsFunctionsTakeWhatItDoesNotMix) {
  Recipe recipe = soft_labels();
  recipe.view("other").decode().resize(8, 6).view("mask", "png").like("other").decode_mask();
  recipe.view("id", "json").json_number("/id");
  recipe.map(own_function({{"other"}, {"mask"}, {"id"}}, {{"number", DType::kI64}}));
  EXPECT_THAT(Plan(recipe.mixup(1, 1, "batch", "soft", "image")).mixing().steps[0].images, ElementsAre(0));
}

std::vector<float> one_hot_of(std::int64_t label, const std::string& arguments, bool reference) {
  const Plan plan(Recipe::from_toml("[[view]]\nname = 'label'\noperators = [{op = 'one_hot', " + arguments + "}]"));
  CpuExecutor fast(plan);
  ReferenceExecutor slow(plan);
  SampleExecutor& executor = reference ? static_cast<SampleExecutor&>(slow) : fast;
  const std::vector<SampleOutput> outputs = run_one(executor, {.fields = {}, .label = label});
  std::vector<float> values(outputs[0].bytes.size() / sizeof(float));
  std::memcpy(values.data(), outputs[0].bytes.data(), outputs[0].bytes.size());
  EXPECT_EQ(outputs[0].spec.shape, Shape{std::ssize(values)});
  return values;
}

TEST(OneHot, IsAProbabilityForEachClass) {
  for (const bool reference : {false, true}) {
    EXPECT_THAT(one_hot_of(2, "classes = 4", reference), ElementsAre(0, 0, 1, 0));
    EXPECT_THAT(one_hot_of(0, "classes = 4, smoothing = 0.1", reference),
                ElementsAre(static_cast<float>(0.9 + 0.1 / 4), 0.025f, 0.025f, 0.025f));
    EXPECT_THAT(one_hot_of(0, "classes = 1, smoothing = 0.5", reference), ElementsAre(1));
  }
}

TEST(OneHot, RefusesLabelsOfNoClass) {
  EXPECT_THAT(error_of([] { one_hot_of(4, "classes = 4", false); }).message(),
              HasSubstr("its label is 4, but one_hot with classes=4 takes labels from 0 to 3"));
  EXPECT_THAT(error_of([] { one_hot_of(-1, "classes = 4", false); }).message(), HasSubstr("it has no label"));
  EXPECT_EQ(error_of([] { one_hot_of(-7, "classes = 4", true); }).kind(), ErrorKind::kUsage);
}

TEST(OneHot, TakesNumbersOfJson) {
  const Plan plan(
      Recipe::from_toml("[[view]]\nname = 'x'\nfield = 'json'\noperators = [{op = 'json_number', key = 'a'}, {op = "
                        "'one_hot', classes = 3}]"));
  CpuExecutor executor(plan);
  const std::string json = R"({"a": 1})";
  const Bytes fields[] = {as_bytes(json)};
  const std::vector<SampleOutput> outputs = run_one(executor, {.fields = fields});
  const float want[] = {0, 1, 0};
  EXPECT_EQ(std::memcmp(outputs[0].bytes.data(), want, sizeof(want)), 0);
}

}  // namespace
}  // namespace stoker
