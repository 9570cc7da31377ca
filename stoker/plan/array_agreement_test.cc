// Arrays come out the same number by number and row by row, whether they are read as a whole or in parts.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "stoker/base/error.h"
#include "stoker/base/random.h"
#include "stoker/plan/agreement_testing.h"
#include "stoker/plan/array_ranges.h"
#include "stoker/plan/cpu_executor.h"
#include "stoker/plan/reference_executor.h"
#include "stoker/tensor/npy_header.h"
#include "stoker/tensor/npy_testing.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kTypes[] = {"|b1", "|u1", "|i1", "<u2", ">u2", "<i2", ">i2", "<u4", "<i4", ">i4",
                                       "<u8", "<i8", ">i8", "<f2", ">f2", "<f4", ">f4", "<f8", ">f8"};

std::vector<std::uint8_t> random_array(Random& random, const std::vector<std::int64_t>& shape, std::string_view type) {
  std::size_t bytes = static_cast<std::size_t>(type[2] - '0');
  for (const std::int64_t extent : shape) bytes *= static_cast<std::size_t>(extent);
  std::vector<std::uint8_t> numbers = uneven_bytes(bytes, random.next_u64());
  // Small whole numbers, which every type holds, or any bits at all.
  const bool is_small = random.below(2) == 0;
  const std::size_t item = static_cast<std::size_t>(type[2] - '0');
  if (type == "|b1") {
    for (std::uint8_t& number : numbers) number &= 1;
  } else if (is_small && type[1] != 'f') {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const bool is_lowest = type[0] == '>' ? i % item == item - 1 : i % item == 0;
      numbers[i] = is_lowest ? numbers[i] % 100 : 0;
    }
  }
  // The bits of a NaN in a sum are not promised.
  for (std::size_t i = 0; type[1] == 'f' && i < numbers.size(); i += item) {
    numbers[type[0] == '>' ? i : i + item - 1] &= 0xBF;
  }
  const std::string text = fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  return npy_file({type, text, random.below(3) == 0}, numbers);
}

std::vector<std::int64_t> random_shape(Random& random, std::size_t rank, std::uint64_t longest) {
  std::vector<std::int64_t> shape;
  for (std::size_t i = 0; i < rank; ++i) shape.push_back(static_cast<std::int64_t>(1 + random.below(longest)));
  return shape;
}

template <typename Choice>
Choice one_of(Random& random, std::initializer_list<Choice> choices) {
  return choices.begin()[random.below(choices.size())];
}

// Operators on arrays of so many axes, in a permitted order.
void add_operators(Random& random, Recipe& recipe, std::size_t rank) {
  std::vector<double> size;
  for (std::size_t i = 0; i < rank; ++i) size.push_back(static_cast<double>(1 + random.below(9)));
  recipe.array_crop(size, one_of(random, {"random", "center", "begin"}));
  if (random.below(2) == 0) recipe.array_flip({-1}, 0.5);
  if (random.below(2) == 0 && rank > 1) recipe.array_flip({0, -1}, 0.7);
}

void add_steps(Random& random, Recipe& recipe) {
  if (random.below(2) == 0) recipe.array_clip(-50, 80);
  if (random.below(2) == 0) recipe.array_standardize(one_of(random, {"sample", "channel"}));
  if (random.below(2) == 0) recipe.array_brightness({0.7, 1.3}, 0.5);
  if (random.below(2) == 0) recipe.array_normalize({12}, {3.5});
  if (random.below(2) == 0) recipe.array_noise({0, 0.5}, 0.25, 0.8);
}

/// The field as a reader has it that reads only what the view needs.
std::vector<std::uint8_t> cut(const ViewPlan& view, Bytes field, const SampleDraw& draw, std::uint64_t gap,
                              FieldWindow& window) {
  window.layout = read_npy_layout(field, field.size());
  std::vector<ByteRange> ranges;
  add_array_ranges(draw_array_box(view.array, window.layout, draw), window.layout, gap, ranges);
  join_ranges(ranges, gap);
  std::vector<std::uint8_t> read;
  window.clear();
  for (const ByteRange& range : ranges) {
    window.parts.push_back({range.begin, range.end, read.size()});
    read.insert(read.end(), field.begin() + static_cast<std::ptrdiff_t>(range.begin),
                field.begin() + static_cast<std::ptrdiff_t>(range.end));
    read.resize(read.size() + 7, 0xEE);  // padding, as between reads
  }
  return read;
}

void expect_agreement(const Recipe& recipe, Bytes field, const SampleDraw& draw, std::uint64_t gap,
                      const std::string& what) {
  const Plan plan(recipe);
  ReferenceExecutor reference(plan);
  CpuExecutor executor(plan);
  const std::vector<Bytes> fields{field};
  const SampleInput whole{.fields = fields, .draw = draw};
  const auto want = outputs_or_refusal(reference, whole);
  ASSERT_NO_FATAL_FAILURE(expect_outputs(executor, whole, want, what));
  if (!want) return;
  std::vector<FieldWindow> windows(1);
  const std::vector<std::uint8_t> read = cut(plan.views()[0], field, draw, gap, windows[0]);
  const std::vector<Bytes> parts{read};
  const SampleInput in_parts{.fields = parts, .windows = windows, .draw = draw};
  ASSERT_NO_FATAL_FAILURE(expect_outputs(executor, in_parts, want, what + ", in parts"));
}

Recipe recipe_of_array() {
  Recipe recipe;
  recipe.view("image", "x.npy");
  return recipe;
}

TEST(ArrayAgreement, HoldsForAnyTypeOrderAndShape) {
  Random random(1, 2, 3, 4);
  int refused = 0;
  constexpr int kCases = 600;
  for (int i = 0; i < kCases; ++i) {
    const std::size_t rank = 1 + random.below(4);
    const std::string_view type = kTypes[random.below(std::size(kTypes))];
    const std::vector<std::uint8_t> field = random_array(random, random_shape(random, rank, 11), type);
    Recipe recipe = recipe_of_array();
    const bool computes = random.below(2) == 0;
    const std::string_view dtype = computes ? one_of(random, {"f32", "f16", "bf16"})
                                            : one_of(random, {"u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64",
                                                              "f16", "bf16", "f32", "f64", "bool"});
    recipe.decode_array(dtype, {}, 4096, 1);
    add_operators(random, recipe, rank);
    if (computes) add_steps(random, recipe);
    const SampleDraw draw{.seed = 5, .epoch = 6, .position = static_cast<std::uint64_t>(i)};
    const Plan plan(recipe);
    ReferenceExecutor reference(plan);
    const std::vector<Bytes> fields{field};
    refused += outputs_or_refusal(reference, {.fields = fields, .draw = draw}) ? 0 : 1;
    ASSERT_NO_FATAL_FAILURE(expect_agreement(recipe, field, draw, 1 + random.below(64), fmt::format("{} {}", type, i)));
  }
  EXPECT_GT(refused, kCases / 20);  // numbers that a type does not have
  EXPECT_LT(refused, kCases / 2);
}

TEST(ArrayAgreement, HoldsForLongRows) {
  Random random(7, 2, 3, 4);
  const std::vector<std::uint8_t> field = random_array(random, {2, 3, 5000}, "<i2");
  Recipe recipe = recipe_of_array();
  recipe.decode_array().array_crop({2, 3, 4999}).array_flip({2}, 0.5).array_standardize("channel").array_noise();
  for (std::uint64_t position = 0; position < 4; ++position) {
    ASSERT_NO_FATAL_FAILURE(expect_agreement(recipe, field, {.position = position}, 100, "long rows"));
  }
}

std::vector<SampleOutput> outputs_of(const Recipe& recipe, const std::vector<Bytes>& fields, std::uint64_t position) {
  const Plan plan(recipe);
  CpuExecutor executor(plan);
  return run_one(executor, {.fields = fields, .draw = {.position = position}});
}

TEST(ArrayAgreement, CropsAndFlipsWhatGoesAlongAlike) {
  const std::vector<std::uint8_t> numbers = uneven_bytes(std::size_t{1} * 9 * 10 * 11, 3);
  const std::vector<std::uint8_t> image = npy_file({"|u1", "(1, 9, 10, 11)"}, numbers);
  const std::vector<std::uint8_t> label = npy_file({"|u1", "(9, 10, 11)"}, numbers);
  Recipe recipe = recipe_of_array();
  recipe.decode_array("u8", {1, -1, -1, -1}).array_crop({4, 5, 12}).array_flip({1, 2, 3}, 0.5);
  recipe.view("label", "y.npy").like("image").decode_array("i64");
  for (std::uint64_t position = 0; position < 20; ++position) {
    const std::vector<SampleOutput> made = outputs_of(recipe, {image, label}, position);
    ASSERT_EQ(made[0].spec.shape, (Shape{1, 4, 5, 12}));
    ASSERT_EQ(made[1].spec.shape, (Shape{4, 5, 12}));
    ASSERT_EQ(made[1].spec.dtype, DType::kI64);
    for (std::size_t i = 0; i < made[0].bytes.size(); ++i) ASSERT_EQ(made[0].bytes[i], made[1].bytes[8 * i]);
  }
}

TEST(ArrayAgreement, HoldsForCropsAroundNumbersOfAnotherArray) {
  Random random(8, 2, 3, 4);
  constexpr std::string_view kWholeTypes[] = {"|b1", "|u1", "|i1", "<u2", ">i2", "<i4", ">u4", "<i8"};
  int centred = 0;
  for (int i = 0; i < 300; ++i) {
    const std::size_t rank = 1 + random.below(4);
    const std::vector<std::int64_t> shape = random_shape(random, rank, 9);
    const std::vector<std::uint8_t> image = random_array(random, shape, "<i2");
    const std::string_view type = kWholeTypes[random.below(std::size(kWholeTypes))];
    std::vector<std::uint8_t> label = random_array(random, shape, type);
    std::vector<double> size;
    for (std::size_t axis = 0; axis < rank; ++axis) size.push_back(static_cast<double>(1 + random.below(9)));
    Recipe recipe = recipe_of_array();
    recipe.decode_array("f32").array_crop(size, "random", "pad", "y.npy", one_of(random, {0.5, 1.0}));
    if (random.below(2) == 0) recipe.array_flip({0}, 0.5);
    if (random.below(2) == 0) recipe.view("label", "y.npy").like("image").decode_array("f64");
    const Plan plan(recipe);
    ReferenceExecutor reference(plan);
    CpuExecutor executor(plan);
    const std::vector<Bytes> fields{image, label};
    const SampleInput sample{.fields = fields, .draw = {.seed = 5, .position = static_cast<std::uint64_t>(i)}};
    const auto want = outputs_or_refusal(reference, sample);
    ASSERT_NO_FATAL_FAILURE(expect_outputs(executor, sample, want, fmt::format("{} {}", type, i)));
    centred += want ? 1 : 0;
  }
  EXPECT_GT(centred, 100);
}

TEST(ArrayAgreement, CropsShowWhatTheyAreDrawnAround) {
  std::vector<std::uint8_t> numbers(20 * 30);
  numbers[3 * 30 + 4] = 7;  // one place of one class, and many of another
  for (std::size_t i = 0; i < 40; ++i) numbers[(10 + i / 10) * 30 + 15 + i % 10] = 2;
  const std::vector<std::uint8_t> label = npy_file({"|u1", "(20, 30)"}, numbers);
  Recipe recipe = recipe_of_array();
  recipe.decode_array("u8").array_crop({5, 4}, "random", "pad", "x.npy");
  int sevens = 0;
  for (std::uint64_t position = 0; position < 200; ++position) {
    const std::vector<std::uint8_t> made = outputs_of(recipe, {label}, position)[0].bytes;
    const std::uint8_t centre = made[2 * 4 + 2];
    ASSERT_TRUE(centre == 7 || centre == 2) << position;
    sevens += centre == 7;
  }
  EXPECT_GT(sevens, 70);
  EXPECT_LT(sevens, 130);
  const std::vector<std::uint8_t> nothing = npy_file({"|u1", "(20, 30)"}, std::vector<std::uint8_t>(600));
  EXPECT_EQ(outputs_of(recipe, {nothing}, 0)[0].bytes, std::vector<std::uint8_t>(20)) << "anywhere";
  std::vector<std::uint8_t> corner(600);
  corner.back() = 1;
  const std::vector<std::uint8_t> at_end = npy_file({"|u1", "(20, 30)"}, corner);
  EXPECT_EQ(outputs_of(recipe, {at_end}, 0)[0].bytes.back(), 1) << "as far as it can be in the centre";
}

std::string refusal(const Recipe& recipe, const std::vector<Bytes>& fields) {
  try {
    outputs_of(recipe, fields, 0);
  } catch (const Error& error) {
    return std::string(to_string(error.kind())) + ": " + error.message();
  }
  return "none";
}

TEST(ArrayAgreement, NamesWhatDoesNotFit) {
  const std::vector<std::uint8_t> bytes = uneven_bytes(24, 3);
  const std::vector<std::uint8_t> three = npy_file({"|u1", "(2, 3, 4)"}, bytes),
                                  two = npy_file({"|u1", "(6, 4)"}, bytes);
  Recipe small = recipe_of_array();
  small.decode_array("u8").array_crop({2, 2});
  EXPECT_THAT(refusal(small, {three}), HasSubstr("'x.npy' has the shape (2, 3, 4), and the recipe wants 2 axes"));
  Recipe declared = recipe_of_array();
  declared.decode_array("u8", {-1, 5}).array_crop({2, 2});
  EXPECT_THAT(refusal(declared, {two}), HasSubstr("'x.npy' has the shape (6, 4), and the recipe says (-1, 5)"));
  Recipe narrow = recipe_of_array();
  narrow.decode_array("bool").array_crop({6, 4});
  EXPECT_THAT(refusal(narrow, {two}), HasSubstr("which dtype='bool' does not have"));
  Recipe strict = recipe_of_array();
  strict.decode_array("u8").array_crop({7, 4}, "center", "refuse");
  EXPECT_THAT(refusal(strict, {two}), HasSubstr("is 6 long, and the crop 7"));
  Recipe pair = recipe_of_array();
  pair.decode_array("u8").array_crop({2, 2}).view("label", "y.npy").like("image").decode_array("u8");
  const std::vector<std::uint8_t> other = npy_file({"|u1", "(4, 6)"}, bytes);
  EXPECT_THAT(refusal(pair, {two, other}), HasSubstr("(4, 6) and (6, 4): they cannot be cropped alike"));
  Recipe around = recipe_of_array();
  around.decode_array("u8").array_crop({2, 2}, "random", "pad", "y.npy");
  EXPECT_THAT(refusal(around, {two, other}), HasSubstr("(6, 4) and (4, 6): they cannot be cropped alike"));
  const std::vector<std::uint8_t> large = npy_file({"<u2", "(6, 2)"}, std::vector<std::uint8_t>(24, 0x77));
  around = recipe_of_array();
  around.decode_array("u16").array_crop({2, 2}, "random", "pad", "x.npy");
  EXPECT_THAT(refusal(around, {large}),
              HasSubstr("'x.npy' holds 30583, and crops are drawn around numbers up to 1023"));
  const std::vector<std::uint8_t> fractions = npy_file({"<f2", "(6, 2)"}, std::vector<std::uint8_t>(24, 0x31));
  EXPECT_THAT(refusal(around, {fractions}), HasSubstr("which dtype='i64' does not have"));
  Recipe rows = recipe_of_array();
  rows.decode_array("u8", {-1, 4}, 5);
  EXPECT_THAT(refusal(rows, {two}), HasSubstr("has 6 rows, and there is room for 5"));
}

TEST(ArrayAgreement, GivesRowsOfAnyNumber) {
  const std::vector<std::uint8_t> numbers = uneven_bytes(24, 3);
  const std::vector<std::uint8_t> six = npy_file({"|u1", "(6, 4)"}, numbers), none = npy_file({"|u1", "(0, 4)"}, {});
  Recipe recipe = recipe_of_array();
  recipe.decode_array("u8", {-1, 4}, 100);
  const OutputSpec spec = Plan(recipe).outputs()[0];
  EXPECT_EQ(spec.arrangement, &ragged_arrangement());
  EXPECT_EQ(spec.shape, (Shape{100, 4}));
  EXPECT_EQ(outputs_of(recipe, {six}, 0)[0].bytes, numbers);
  EXPECT_EQ(outputs_of(recipe, {none}, 0)[0].spec.shape, (Shape{0, 4}));
}

std::string mistake(const Recipe& recipe) {
  try {
    const Plan plan(recipe);
  } catch (const Error& error) {
    return error.message();
  }
  return "none";
}

TEST(ArrayPlans, RefuseWhatCannotBe) {
  const auto array = [] { return recipe_of_array(); };
  EXPECT_THAT(mistake(array().decode_array()), HasSubstr("must say how many axes"));
  EXPECT_THAT(mistake(array().decode_array("f32", {3, -1})), HasSubstr("along axis 1 depends on the sample"));
  EXPECT_THAT(mistake(array().decode_array("u8").array_crop({2}).array_standardize()), HasSubstr("dtype must be"));
  EXPECT_THAT(mistake(array().decode_array().array_crop({2}, "center", "pad", "y.npy")), HasSubstr("random place"));
  EXPECT_THAT(mistake(array().decode_array().array_crop({2}).array_crop({2})), HasSubstr("there is one already"));
  EXPECT_THAT(mistake(array().decode_array("f32", {4}).array_flip({0}).array_crop({2})), HasSubstr("must come before"));
  EXPECT_THAT(mistake(array().decode_array("f32", {4}).array_flip({1})), HasSubstr("there is no axis 1"));
  EXPECT_THAT(mistake(array().decode_array().array_crop({4, 4}).array_normalize({1, 2, 3}, {1})),
              HasSubstr("must be as long"));
  EXPECT_THAT(mistake(array().decode_array().array_crop({4}).resize(4)), HasSubstr("does not take arrays"));
  EXPECT_THAT(mistake(array().decode_array("u8", {}, 1, -1).array_crop({4})), HasSubstr("fill"));
  EXPECT_THAT(mistake(array().decode_array().array_crop({100'000, 100'000})), HasSubstr("more than the limit"));
  constexpr int kMost = 1 << 30;
  EXPECT_THAT(mistake(array().decode_array().array_crop({kMost, kMost, kMost})), HasSubstr("more than the limit"));
  EXPECT_THAT(mistake(array().decode_array("f64").array_crop({4, kMost, kMost})), HasSubstr("more than the limit"));
  EXPECT_THAT(mistake(array().decode_array().array_crop({4}).view("label", "y.npy").like("z").decode_array()),
              HasSubstr("no view 'z' has an array"));
  EXPECT_THAT(
      mistake(
          array().decode_array().array_crop({4}).view("label", "y.npy").like("image").decode_array().array_crop({4})),
      HasSubstr("leave out its own array_crop"));
  Recipe image;
  image.decode().resize(4, 4).array_flip({0});
  EXPECT_THAT(mistake(image), HasSubstr("it takes arrays"));
}

TEST(ArrayRanges, AreOneOfASlabAndSeveralWhereMuchLiesBetween) {
  ArrayLayout stored;
  stored.dtype = DType::kF32;
  stored.shape = {100, 200, 300};
  stored.offset = 128;
  ArrayProgram program;
  program.crop = ArrayCrop{.size = {10, 200, 300}, .place = CropPlace::kBegin};
  std::vector<ByteRange> ranges;
  const auto find = [&](std::vector<std::int64_t> size, std::uint64_t gap) {
    program.crop->size = std::move(size);
    ranges.clear();
    add_array_ranges(draw_array_box(program, stored, {}), stored, gap, ranges);
  };
  find({10, 200, 300}, 32768);
  EXPECT_EQ(ranges, (std::vector<ByteRange>{{128, 128 + 10 * 200 * 300 * 4}}));
  find({2, 50, 300}, 32768);
  EXPECT_EQ(ranges, (std::vector<ByteRange>{{128, 128 + 60'000}, {128 + 240'000, 128 + 300'000}}));
  find({2, 50, 300}, 200'000);
  EXPECT_EQ(ranges, (std::vector<ByteRange>{{128, 128 + 300'000}}));
  find({10, 200, 10}, 1024);  // more rows than reads are worth
  EXPECT_EQ(ranges.size(), 10U);
}

}  // namespace
}  // namespace stoker
