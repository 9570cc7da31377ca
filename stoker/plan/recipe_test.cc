#include "stoker/plan/recipe.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <fstream>

#include "stoker/base/error_testing.h"
#include "stoker/ops/operator_table.h"
#include "stoker/plan/plan.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(const std::string& toml) {
  try {
    const Plan plan(Recipe::from_toml(toml));
    plan.outputs();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.what();
  }
  return "accepted";
}

std::string with_operator(const std::string& op) {
  return "[[view]]\nname = 'image'\noperators = [\n  { op = 'decode' },\n  " + op + ",\n]\n";
}

TEST(Recipe, AnotherModeOfDecodingBringsAScaleThatItKnows) {
  const auto scaled = [](std::string_view mode) {
    return Recipe().decode("planar", "ignore", "auto").random_resized_crop(8).set_decode_mode(mode);
  };
  EXPECT_EQ(scaled("faithful"), Recipe().decode("faithful").random_resized_crop(8)) << "others are for planes";
  EXPECT_EQ(scaled("planar"), Recipe().decode("planar", "ignore", "auto").random_resized_crop(8));
}

Recipe small_chain() { return Recipe().decode().random_resized_crop(8); }

TEST(Recipe, NamedOnesSurviveTheirTomlForm) {
  EXPECT_THAT(Recipe::names(),
              ElementsAre("alexnet-caffe", "cifar-randaugment", "cifar-train", "coco-val", "deeplab-train", "deit3",
                          "dino", "efficientnet", "imagenet-train", "imagenet-val", "lsj", "mae", "mask2former-train",
                          "mocov3", "records", "resnet50-v1", "resnet50-v2", "simclr", "ssd-train", "timm-a1",
                          "timm-a2", "timm-a3", "unet3d-train", "vit-b16", "yolo-letterbox"));
  for (const std::string& name : Recipe::names()) {
    const Recipe recipe = Recipe::named(name);
    EXPECT_EQ(Recipe::from_toml(recipe.to_toml()), recipe) << name;
    EXPECT_NO_THROW(Plan(recipe).outputs()) << name;
  }
}

TEST(Recipe, ChainMeansTheSameAsToml) {
  const Recipe chain = Recipe().decode("faithful").resize(256).center_crop(224).normalize("imagenet").set_tail("pad");
  EXPECT_EQ(chain, Recipe::named("imagenet-val"));
  EXPECT_EQ(Recipe().decode().random_resized_crop(224).random_flip().normalize("imagenet"),
            Recipe::named("imagenet-train"));
}

TEST(Recipe, KeepsDrawGroupsInItsTomlForm) {
  Recipe shared;
  shared.view("mask", "png").draw_group("image").decode();
  const std::string toml = shared.to_toml();
  EXPECT_THAT(toml, HasSubstr("draw_group = \"image\"\n"));
  EXPECT_EQ(Recipe::from_toml(toml), shared);
  Recipe own;
  own.view("mask", "png").draw_group("mask").decode();
  EXPECT_THAT(own.to_toml(), testing::Not(HasSubstr("draw_group"))) << "it says nothing new";
}

TEST(Recipe, IsWrittenWithoutLaterArgumentsThatAreTheDefault) {
  EXPECT_THAT(small_chain().to_toml(), testing::Not(HasSubstr("full"))) << "states of older recipes stay valid";
  const Recipe scaled = Recipe().decode("planar", "ignore", "auto").random_resized_crop(8);
  EXPECT_THAT(scaled.to_toml(), HasSubstr("scale = \"auto\""));
  EXPECT_EQ(Recipe::from_toml(scaled.to_toml()), scaled);
  EXPECT_NE(scaled, small_chain());
}

TEST(Recipe, KeepsBatchRepeatsInItsTomlForm) {
  const Recipe once = small_chain(), repeated = small_chain().set_batch_repeats(4);
  EXPECT_EQ(once.batch_repeats(), 1);
  EXPECT_THAT(once.to_toml(), testing::Not(HasSubstr("batch_repeats"))) << "states of older recipes stay valid";
  EXPECT_THAT(repeated.to_toml(), HasSubstr("\nbatch_repeats = 4\n"));
  EXPECT_EQ(Recipe::from_toml(repeated.to_toml()).batch_repeats(), 4);
  EXPECT_EQ(Recipe::from_toml(repeated.to_toml()), repeated);
  EXPECT_NE(repeated, once);
  EXPECT_EQ(Recipe(repeated).set_batch_repeats(1), once);
  EXPECT_THAT(error_of([] { Recipe().set_batch_repeats(0); }).what(), HasSubstr("at least 1, not 0"));
  const std::string label = "\n[[view]]\nname = 'label'";
  EXPECT_THAT(refusal("batch_repeats = -3" + label), HasSubstr("line 1: batch_repeats must be at least 1, not -3"));
  EXPECT_THAT(refusal("batch_repeats = 2.0" + label), HasSubstr("line 1: batch_repeats must be a whole number"));
  EXPECT_THAT(refusal("batch_repeats = '4'" + label), HasSubstr("line 1: batch_repeats must be a whole number"));
  EXPECT_THAT(refusal("batch_repeat = 4" + label), HasSubstr("did you mean 'batch_repeats'?"));
}

std::vector<std::string> names_of(const Recipe& recipe) {
  std::vector<std::string> names;
  for (const View& view : recipe.views()) names.push_back(view.name);
  return names;
}

TEST(Recipe, CopiesOfAViewAreNumbered) {
  Recipe chain;
  chain.view("whole", "image", 2).decode().random_resized_crop(224, {0.4, 1}).random_flip();
  chain.view("local", "image", 3).decode().random_resized_crop(96, {0.05, 0.4});
  EXPECT_THAT(names_of(chain), ElementsAre("label", "whole_0", "whole_1", "local_0", "local_1", "local_2"));
  EXPECT_EQ(chain.views()[1].operators.size(), 3u);
  EXPECT_EQ(chain.views()[1].operators, chain.views()[2].operators);
  EXPECT_EQ(chain.views()[5].operators, chain.views()[3].operators);
  EXPECT_EQ(Recipe::from_toml(chain.to_toml()), chain);
  EXPECT_EQ(
      Recipe::from_toml("[[view]]\nname = 'label'\n[[view]]\nname = 'whole'\nfield = 'image'\ncopies = 2\n"
                        "operators = [{ op = 'decode' }, { op = 'random_resized_crop', size = 224, scale = [0.4, 1] "
                        "}, { op = 'random_flip' }]\n[[view]]\nname = 'local'\nfield = 'image'\ncopies = 3\n"
                        "operators = [{ op = 'decode' }, { op = 'random_resized_crop', size = 96, scale = [0.05, "
                        "0.4] }]"),
      chain);
  chain.view("local_1").cast("f16");
  EXPECT_EQ(chain.views()[4].operators.size(), 3u) << "one of them alone";
  EXPECT_EQ(chain.views()[3].operators.size(), 2u);
  chain.view("local", "image", 3).normalize("imagenet");
  EXPECT_EQ(chain.views()[4].operators.size(), 4u) << "all of them again";
}

TEST(Recipe, CopiesTakeThePlaceOfAnImageThatNobodyAskedFor) {
  EXPECT_THAT(names_of(Recipe().view("image", "image", 1)), ElementsAre("label", "image_0"));
  EXPECT_THAT(names_of(Recipe().decode().view("crop", "image", 1)), ElementsAre("image", "label", "crop_0"));
  EXPECT_THAT(names_of(Recipe().view("image").view("crop", "image", 1)), ElementsAre("image", "label", "crop_0"));
  EXPECT_THAT(refusal("[[view]]\nname = 'image'\n[[view]]\nname = 'crop'\nfield = 'image'\ncopies = 2\n"
                      "operators = [{ op = 'decode' }, { op = 'resize', size = [8, 8] }]"),
              HasSubstr("view 'image' must begin with decode"));
}

TEST(Recipe, CopiesShareDrawsWithThoseOfTheirNumber) {
  Recipe recipe;
  recipe.view("image", "image", 2).decode().random_resized_crop(32);
  recipe.view("mask", "png", 2).draw_group("image").decode("faithful").random_resized_crop(32);
  EXPECT_EQ(recipe.views()[1].draw_group, "");
  EXPECT_EQ(recipe.views()[3].draw_group, "image_0");
  EXPECT_EQ(recipe.views()[4].draw_group, "image_1");
}

TEST(Recipe, CopiesAreOptionalTogether) {
  Recipe recipe;
  recipe.decode().view("text", "txt", 2).optional().decode_text();
  EXPECT_TRUE(recipe.views()[2].is_optional && recipe.views()[3].is_optional);
  EXPECT_FALSE(recipe.views()[0].is_optional);
  EXPECT_EQ(Recipe::from_toml(recipe.to_toml()), recipe);
}

TEST(Recipe, RefusesCopiesThatMakeNoSense) {
  for (const int copies : {0, -1, kCopiesMax + 1}) {
    EXPECT_THAT(error_of([&] { Recipe().view("local", "image", copies); }).message(),
                HasSubstr("at least 1, and at most 64"));
  }
  EXPECT_THAT(refusal("[[view]]\nname = 'local'\ncopies = 0"),
              HasSubstr("line 3: copies must be a whole number, at least 1 and at most 64"));
  EXPECT_THAT(refusal("[[view]]\nname = 'local'\ncopies = 2.5"), HasSubstr("copies must be a whole number"));
  EXPECT_THAT(refusal("[[view]]\nname = 'a_1'\nfield = 'image'\n[[view]]\nname = 'a'\ncopies = 2"),
              HasSubstr("there are two views 'a_1'"));
  EXPECT_THAT(error_of([&] { Recipe().view("9", "image", 2); }).message(), HasSubstr("cannot be named '9'"));
}

TEST(Recipe, FiveAndTenCropsAreViews) {
  Recipe five = Recipe().decode().resize(256).random_flip().five_crop(224).normalize("imagenet");
  EXPECT_THAT(names_of(five), ElementsAre("image_0", "image_1", "image_2", "image_3", "image_4", "label"));
  EXPECT_EQ(five.views()[3].operators.size(), 5u);
  EXPECT_EQ(five.views()[3].operators[3].text("corner"), "bottom_right");
  EXPECT_EQ(five.views()[4].operators[3].text("corner"), "center");
  EXPECT_EQ(five.views()[4].draw_group, "image") << "flipped as one";
  EXPECT_EQ(Recipe::from_toml(five.to_toml()), five);
  EXPECT_EQ(
      Recipe::from_toml("[[view]]\nname = 'image'\noperators = [{ op = 'decode' }, { op = 'resize', size = 256 }, "
                        "{ op = 'random_flip' }, { op = 'five_crop', size = 224 }, { op = 'normalize', preset = "
                        "'imagenet' }]\n[[view]]\nname = 'label'"),
      five);
  const Recipe ten = Recipe().decode().resize(256).ten_crop(224, "vertical");
  ASSERT_EQ(ten.views().size(), 11u);
  EXPECT_EQ(ten.views()[9].name, "image_9");
  EXPECT_EQ(ten.views()[4].operators.size(), 3u);
  EXPECT_EQ(ten.views()[9].operators[2].text("axis"), "vertical");
  EXPECT_EQ(ten.views()[9].operators[3], ten.views()[4].operators[2]);
  EXPECT_THAT(refusal("[[view]]\nname = 'a_3'\nfield = 'image'\n[[view]]\nname = 'a'\nfield = 'image'\n"
                      "operators = [{ op = 'five_crop', size = 8 }]"),
              HasSubstr("there are two views 'a_3'"));
  EXPECT_THAT(error_of([] { Plan(Recipe().decode().normalize("imagenet").five_crop(8)); }).message(),
              HasSubstr("view 'image_0': corner_crop (geometry) must come before normalize (color)"));
}

TEST(Recipe, SuggestsTheNearestName) {
  EXPECT_THAT(refusal(with_operator("{ op = 'resise', size = 3 }")),
              HasSubstr("line 5: there is no operator 'resise' (did you mean 'resize'?)"));
  EXPECT_THAT(refusal(with_operator("{ op = 'resize', sise = 3 }")),
              HasSubstr("resize has no argument 'sise' (did you mean 'size'?)"));
  EXPECT_THAT(refusal(with_operator("{ op = 'resize', size = 3, filter = 'bilinar' }")),
              HasSubstr("(did you mean 'bilinear'?)"));
  EXPECT_THAT(refusal("[[veiw]]\nname = 'image'"), HasSubstr("did you mean 'view'?"));
  EXPECT_THROW(Recipe::named("imagenet-trian"), Error);
}

TEST(Recipe, RefusesWrongArguments) {
  EXPECT_THAT(refusal(with_operator("{ op = 'resize' }")), HasSubstr("resize needs size"));
  EXPECT_THAT(refusal(with_operator("{ op = 'resize', size = 0 }")), HasSubstr("must be between 1 and 65535"));
  EXPECT_THAT(refusal(with_operator("{ op = 'resize', size = 2.5 }")), HasSubstr("must be a whole number"));
  EXPECT_THAT(refusal(with_operator("{ op = 'resize', size = [1, 2, 3] }")), HasSubstr("a list of 1 or 2 numbers"));
  EXPECT_THAT(refusal(with_operator("{ op = 'resize', size = 'big' }")),
              HasSubstr("must be a number or a list of numbers"));
  EXPECT_THAT(refusal(with_operator("{ op = 'resize', size = true }")),
              HasSubstr("size is true, but must be a number"));
  EXPECT_THAT(refusal(with_operator("{ op = 'random_flip', p = 2 }")), HasSubstr("must be between 0 and 1"));
  EXPECT_THAT(refusal(with_operator("{ op = 'random_resized_crop', size = 8, scale = [1, 0.5] }")),
              HasSubstr("[least, largest]"));
  EXPECT_THAT(refusal("tail = 3\n[[view]]\nname = 'label'"), HasSubstr("line 1: tail must be a text"));
  EXPECT_THAT(refusal("tail = 'kept'\n[[view]]\nname = 'label'"), HasSubstr("line 1: 'kept' is not a tail"));
  EXPECT_THAT(refusal("tail = 'pad'\n[[view]]\nname = 'key'"),
              HasSubstr("line 2: a view cannot be named 'key': batch.key"));
  EXPECT_EQ(refusal(with_operator("{ op = 'line ', x = 1 }")).rfind("line 5: there is no operator 'line '", 0), 0u);
  EXPECT_THAT(refusal("[[view]\n"), HasSubstr("line 1"));
  EXPECT_THAT(refusal("tail = 'pad'"), HasSubstr("at least one [[view]]"));
}

TEST(Recipe, RefusesWholeNumbersThatAreNotExact) {
  EXPECT_THAT(refusal(with_operator("{ op = 'resize', size = 9007199254740993000 }")),
              HasSubstr("line 5: 9007199254740993000 is too large"));
  EXPECT_THAT(refusal(with_operator("{ op = 'random_flip', p = 9007199254740993 }")),
              HasSubstr("line 5: 9007199254740993 is too large"));
  EXPECT_THAT(refusal(with_operator("{ op = 'resize', size = [3, -9007199254740993] }")),
              HasSubstr("line 5: -9007199254740993 is too large"));
  EXPECT_THAT(refusal(with_operator("{ op = 'resize', size = 9007199254740992 }")), HasSubstr("between 1 and 65535"));
}

TEST(Recipe, NamesViewsByIdentifiersThatBatchesDoNotUseThemselves) {
  for (const char* name : {"left", "B", "x1", "valid_pixels", "class_"}) EXPECT_NO_THROW(Recipe().view(name)) << name;
  for (const std::string name :
       {"", "a\"b", "_left", "__len__", "1st", "left.png", "a b", "\xC3\xA4", "a-b", "key", "position", "epoch",
        "index", "valid", "outputs", "count", "errors", "record_stream", "map"}) {
    Recipe recipe;
    try {
      recipe.view(name);
      ADD_FAILURE() << name << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      EXPECT_THAT(error.message(), HasSubstr("a view cannot be named '" + name + "'"));
    }
    EXPECT_EQ(recipe, Recipe());
    EXPECT_EQ(recipe.decode(), Recipe().decode()) << "the view worked on stays";
  }
}

TEST(Recipe, EscapesTheTextsOfItsTomlForm) {
  for (const std::string field :
       {"a\"b", "back\\slash\\", "tab\tand\nline\r", "\x01\x1F\x7F", "b\xC3\xA4r", "\"\"\"", "'quoted'", ""}) {
    Recipe recipe;
    recipe.view("other", field).decode();
    EXPECT_EQ(Recipe::from_toml(recipe.to_toml()), recipe) << recipe.to_toml();
  }
}

TEST(Recipe, RefusesKeysThatWouldExhaustTheStack) {
  std::string key = "a";
  for (int i = 0; i < 100'000; ++i) key += ".a";
  for (const std::string& text : {key + " = 1", "[" + key + "]"}) {
    try {
      Recipe::from_toml(text);
      ADD_FAILURE() << "it was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kLimit);
    }
  }
}

TEST(Recipe, SaysWhatIsWrongWithItsFile) {
  const auto refusal_of = [](const std::string& path) {
    try {
      Recipe::load(path);
    } catch (const Error& error) {
      return fmt::format("{}: {}", to_string(error.kind()), error.message());
    }
    return std::string("accepted");
  };
  const std::string folder = testing::TempDir() + "recipe_test.toml", file = folder + "/wrong.toml";
  std::filesystem::create_directories(folder);
  EXPECT_EQ(refusal_of(folder), "io: cannot read the recipe " + folder + ": Is a directory");
  EXPECT_EQ(refusal_of(file), "not_found: cannot read the recipe " + file + ": No such file or directory");
  std::ofstream(file) << "tail = 'pad'\n[[view]]\nname = '1st'\n";
  EXPECT_THAT(refusal_of(file), testing::StartsWith("usage: " + file + ": line 2: a view cannot be named '1st'"));
  std::ofstream(file) << "";
  EXPECT_EQ(refusal_of(file), "usage: " + file + ": a recipe needs at least one [[view]]");
  std::filesystem::remove_all(folder);
}

TEST(Recipe, LetsTheLabelBeAnotherField) {
  const Recipe recipe = Recipe().view("label", "json").json_number("category_id");
  ASSERT_EQ(recipe.views().size(), 2u);
  EXPECT_EQ(recipe.views()[1].name, "label");
  EXPECT_EQ(recipe.views()[1].field, "json");
  EXPECT_EQ(Recipe().view("label").views()[1].field, "label");
  const Error error = error_of([] { Recipe().decode().view("image", "mask.png"); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_THAT(error.what(), HasSubstr("view 'image' already has the field 'image'"));
}

TEST(Recipe, RefusesChainsThatCannotRun) {
  EXPECT_THAT(refusal("[[view]]\nname = 'image'\noperators = [ { op = 'resize', size = 8 } ]"),
              HasSubstr("must begin with decode"));
  EXPECT_THAT(refusal(with_operator("{ op = 'normalize' }, { op = 'resize', size = 8 }")),
              HasSubstr("resize (geometry) must come before normalize (color)"));
  EXPECT_THAT(refusal(with_operator("{ op = 'resize', size = 8 }")), HasSubstr("its size depends on the image"));
  EXPECT_THAT(refusal("[[view]]\nname = 'label'\noperators = [ { op = 'decode' } ]"),
              HasSubstr("labels and other numbers take no operator but one_hot"));
}

TEST(Recipe, ReadsOtherFieldsUnderOtherNames) {
  const Plan plan(Recipe::from_toml(
      "[[view]]\nname = 'left'\nfield = 'left.png'\noperators = [{op='decode'},{op='resize',size=[4,6]}]\n"
      "[[view]]\nname = 'right'\nfield = 'right.png'\noperators = [{op='decode'},{op='resize',size=[4,6]}]\n"
      "[[view]]\nname = 'again'\nfield = 'left.png'\noperators = [{op='decode'},{op='center_crop',size=5}]\n"));
  EXPECT_THAT(plan.fields(), testing::ElementsAre("left.png", "right.png"));
  ASSERT_EQ(plan.outputs().size(), 3u);
  EXPECT_EQ(plan.outputs()[1].shape, (Shape{3, 4, 6}));
  EXPECT_EQ(plan.stages().size(), 9u);
  EXPECT_EQ(plan.stages()[6].name, "again.decode");
}

TEST(Plan, DeclaresWhatEachStageLeaves) {
  const Plan plan(Recipe::named("imagenet-train"));
  ASSERT_EQ(plan.stages().size(), 3u);
  EXPECT_THAT(plan.stages()[0].operators, testing::ElementsAre("decode"));
  EXPECT_THAT(plan.stages()[1].operators, testing::ElementsAre("random_resized_crop(size=[224])", "random_flip"));
  EXPECT_THAT(plan.stages()[2].operators, testing::ElementsAre("normalize(preset='imagenet')"));
  EXPECT_EQ(plan.stages()[0].bytes_out, std::nullopt);
  EXPECT_EQ(plan.stages()[1].bytes_out, 224 * 224 * 3);
  EXPECT_EQ(plan.stages()[2].bytes_out, 224 * 224 * 3 * 4);
  EXPECT_EQ(plan.outputs()[0].dtype, DType::kF32);
  EXPECT_EQ(Plan(Recipe().decode().resize(4, 4)).outputs()[0].dtype, DType::kU8);
  EXPECT_EQ(Plan(Recipe().decode().resize(4, 4).layout("nhwc")).outputs()[0].shape, (Shape{4, 4, 3}));
}

const char* const kNested =
    "{ op = 'random_apply', p = 0.8, operators = [\n"
    "    { op = 'random_choice', p = [1, 3], operators = [{ op = 'flip' }, { op = 'flip', axis = 'vertical' }] },\n"
    "    { op = 'sequence', operators = [{ op = 'random_order', operators = [{ op = 'flip' }] }] },\n"
    "  ] }, { op = 'center_crop', size = 8 }";

TEST(Recipe, NestsOperatorsInItsChainAndInToml) {
  const Recipe toml = Recipe::from_toml(with_operator(kNested));
  Recipe chain;
  chain.decode()
      .random_apply({{"random_choice",
                      {{"operators", OperatorCalls{{"flip", {}}, {"flip", {{"axis", std::string("vertical")}}}}},
                       {"p", Numbers{1, 3}}}},
                     {"sequence",
                      {{"operators", OperatorCalls{{"random_order", {{"operators", OperatorCalls{{"flip", {}}}}}}}}}}},
                    0.8)
      .center_crop(8);
  EXPECT_EQ(toml.views()[0], chain.views()[0]);
  EXPECT_EQ(Recipe::from_toml(chain.to_toml()), chain) << chain.to_toml();
  EXPECT_THAT(chain.to_toml(),
              HasSubstr("\n      { op = \"flip\", axis = \"vertical\" },\n    ], p = [1, 3], mode = \"elem\" },\n"));
  const Plan plan(chain);
  EXPECT_THAT(plan.stages()[1].operators,
              testing::ElementsAre("random_apply(operators=[random_choice(operators=[flip, flip(axis='vertical')], "
                                   "p=[1, 3]), sequence(operators=[random_order(operators=[flip])])], p=0.8)",
                                   "center_crop(size=[8])"));
}

TEST(Recipe, NamesTheLineAndTheCauseOfANestedMistake) {
  const auto nested = [](const std::string& members) {
    return refusal(with_operator("{ op = 'random_apply', operators = [\n" + members + "] }"));
  };
  EXPECT_THAT(nested("{ op = 'flip' },\n{ op = 'flup' }"),
              HasSubstr("line 7: there is no operator 'flup' (did you mean 'flip'?)"));
  EXPECT_THAT(nested("{ op = 'flip', axis = 'diagonal' }"), HasSubstr("line 6: flip: axis is 'diagonal'"));
  EXPECT_THAT(nested("{ op = 'flip' }, 3"), HasSubstr("line 6: an operator is written { op ="));
  EXPECT_THAT(nested("3, { op = 'flip' }"), HasSubstr("line 6: a list may contain only numbers, or only operators"));
  EXPECT_THAT(nested(""), HasSubstr("line 5: random_apply: operators is [], but must be a list of operators"));
  EXPECT_THAT(nested("{ op = 'decode' }"), HasSubstr("decode (decode) cannot be one of its operators"));
  EXPECT_THAT(nested("{ op = 'normalize' }"), HasSubstr("normalize (color) cannot be one of its operators"));
  EXPECT_THAT(nested("{ op = 'sequence', operators = [{ op = 'cast', dtype = 'f16' }] }"),
              HasSubstr("line 6: sequence:"));
  EXPECT_THAT(refusal(with_operator("{ op = 'random_apply', p = 0.5 }")), HasSubstr("random_apply needs operators"));
  EXPECT_THAT(refusal(with_operator("{ op = 'random_apply', operators = { op = 'flip' } }")),
              HasSubstr("a list of operators"));
  EXPECT_THAT(refusal(with_operator("{ op = 'random_flip', axis = [{ op = 'flip' }] }")),
              HasSubstr("random_flip: axis is [flip(axis='horizontal')], but must be a text"));
  const std::string choice = "{ op = 'random_choice', operators = [{ op = 'flip' }, { op = 'flip' }], p = ";
  EXPECT_THAT(refusal(with_operator(choice + "[1] }")), HasSubstr("p has 1 numbers for 2 operators"));
  EXPECT_THAT(refusal(with_operator(choice + "[0, 0] }")), HasSubstr("none can be chosen"));
  EXPECT_THAT(refusal(with_operator(choice + "[0, -1] }")), HasSubstr("must be between 0 and"));
  const std::string order = "{ op = 'random_order', operators = [{ op = 'flip' }] }";
  EXPECT_THAT(refusal(with_operator("{ op = 'normalize' }, " + order)),
              HasSubstr("random_order (geometry) must come before normalize (color)"));
  EXPECT_THAT(error_of([] {
                Recipe().decode().sequence({{"flip", {}}, {"flip", {{"axes", 1.0}}}});
              }).what(),
              HasSubstr("sequence: flip has no argument 'axes' (did you mean 'axis'?)"));
}

TEST(Recipe, BoundsHowDeepAndHowManyOperatorsNest) {
  OperatorCall call{"flip", {}};
  for (int i = 0; i < kCombinationDepthMax; ++i) call = {"sequence", {{"operators", OperatorCalls{call}}}};
  EXPECT_NO_THROW(Recipe().add(call));
  const Error deep = error_of([&] { Recipe().sequence({call}); });
  EXPECT_EQ(deep.kind(), ErrorKind::kLimit);
  EXPECT_THAT(deep.what(), HasSubstr("operators stand within more than 8 others"));
  std::string toml = "{ op = 'flip' }";
  for (int i = 0; i < 100; ++i) toml = "{ op = 'sequence', operators = [" + toml + "] }";
  EXPECT_EQ(error_of([&] { Recipe::from_toml(with_operator(toml)); }).kind(), ErrorKind::kLimit);
  OperatorCalls many(Combination::kMembersMax, {"flip", {}});
  EXPECT_NO_THROW(Recipe().decode().random_order(many).random_choice(many));
  many.push_back({"flip", {}});
  EXPECT_THAT(error_of([&] { Recipe().random_order(many); }).what(),
              HasSubstr("random_order: operators has 32 operators, but must have 1 to 31"));
}

TEST(OperatorTable, HoldsAnOperatorOnceAndDocumentsEverything) {
  for (const OperatorSpec& spec : operator_table()) {
    EXPECT_EQ(&find_operator(spec.name), &spec);
    EXPECT_FALSE(spec.doc.empty()) << spec.name;
    OperatorCall call{std::string(spec.name), {}};
    for (const ArgSpec& arg : spec.args) {
      EXPECT_FALSE(arg.doc.empty()) << spec.name << "." << arg.name;
      if (arg.required) continue;
      call.args.emplace_back(arg.name, default_value(arg));
    }
    // Every default must pass the operator's own check.
    for (const ArgSpec& arg : spec.args) {
      if (!arg.required) continue;
      if (arg.type == ArgType::kOperators) {
        call.args.emplace_back(arg.name, OperatorCalls{{"flip", {}}});
      } else if (arg.type == ArgType::kText) {
        call.args.emplace_back(arg.name, std::string(arg.choices.substr(0, arg.choices.find('|'))));
      } else if (arg.type == ArgType::kNumbers || arg.type == ArgType::kIntegers) {
        const auto count = static_cast<std::size_t>(std::countr_zero(arg.counts));
        call.args.emplace_back(arg.name, Numbers(count, arg.min));
      } else {
        call.args.emplace_back(arg.name, arg.min);
      }
    }
    EXPECT_NO_THROW(check_call(call)) << spec.name;
  }
}

}  // namespace
}  // namespace stoker
