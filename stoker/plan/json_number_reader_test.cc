#include "stoker/plan/json_number_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>

#include "stoker/base/error_testing.h"
#include "stoker/plan/cpu_executor.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

template <typename Number>
Number read(std::string_view json, std::string key) {
  Number number{};
  const DType dtype = std::is_same_v<Number, float> ? DType::kF32 : DType::kI64;
  write_json_number(as_bytes(json), {std::move(key), dtype},
                    MutableBytes(reinterpret_cast<std::uint8_t*>(&number), sizeof(number)));
  return number;
}

std::string refusal(std::string_view json, const std::string& key) {
  const Error error = error_of([&] { read<std::int64_t>(json, key); });
  EXPECT_EQ(error.kind(), ErrorKind::kBadSample);
  return error.message();
}

TEST(JsonNumber, IsFoundByKeyOrPointer) {
  constexpr std::string_view kJson = R"({"label": -7, "a.b": 1, "deep": [{"x/y": 12}], "r": 0.5, "": 3})";
  EXPECT_EQ(read<std::int64_t>(kJson, "label"), -7);
  EXPECT_EQ(read<std::int64_t>(kJson, "a.b"), 1);
  EXPECT_EQ(read<std::int64_t>(kJson, "/deep/0/x~1y"), 12);
  EXPECT_EQ(read<float>(kJson, "r"), 0.5f);
  EXPECT_EQ(read<float>(kJson, "label"), -7.0f);
  EXPECT_EQ(read<std::int64_t>(kJson, ""), 3);
  EXPECT_EQ(read<std::int64_t>(R"({"a": 9223372036854775807})", "a"), INT64_MAX);
  EXPECT_EQ(read<std::int64_t>(R"({"a": -5.0})", "a"), -5);
}

TEST(JsonNumber, IsTheWholeTextOrATruthValue) {
  EXPECT_EQ(read<float>("8.25", ""), 8.25f);
  EXPECT_EQ(read<std::int64_t>(" 7\n", ""), 7);
  EXPECT_EQ(read<std::int64_t>("true", ""), 1);
  EXPECT_EQ(read<float>(R"({"a": [false, true]})", "/a/1"), 1.0f);
  EXPECT_EQ(read<std::int64_t>(R"({"a": false})", "a"), 0);
  EXPECT_THAT(refusal("\"x\"", ""), HasSubstr("its JSON is \"x\", and not a whole number"));
  EXPECT_THAT(refusal("[1]", ""), HasSubstr("has no ''"));
  EXPECT_THAT(refusal("", ""), HasSubstr("JSON is damaged"));
}

TEST(JsonNumber, IsTheLastOneOfEqualKeys) {
  EXPECT_EQ(read<std::int64_t>(R"({"a": 1, "a": 2})", "a"), 2);
  EXPECT_EQ(read<std::int64_t>(R"({"a": {"b": 1}, "ab": 3, "a": {"b": 2}})", "/a/b"), 2);
  EXPECT_THAT(refusal(R"({"a": {"b": 1}, "a": {"c": 2}})", "/a/b"), HasSubstr("has no '/a/b'"));
  EXPECT_THAT(refusal(R"({"a": [1], "a": 5})", "/a/0"), HasSubstr("has no '/a/0'"));
}

TEST(JsonNumber, IsBadWhereItIsNotThereOrNoSuchNumber) {
  EXPECT_THAT(refusal(R"({"a": 1)", "a"), HasSubstr("JSON is damaged"));
  EXPECT_THAT(refusal("", "a"), HasSubstr("JSON is damaged"));
  EXPECT_THAT(refusal(R"({"a": 1})", "b"), HasSubstr("has no 'b'"));
  EXPECT_THAT(refusal("[1]", "b"), HasSubstr("has no 'b'"));
  EXPECT_THAT(refusal("[1]", "/1"), HasSubstr("has no '/1'"));
  EXPECT_THAT(error_of([] { read<float>("3.5e38", ""); }).message(), HasSubstr("and not a number that f32 holds"));
  for (const char* value : {"1.5", "1e16", "\"1\"", "null", "9223372036854775808", "[1]"}) {
    EXPECT_THAT(refusal(std::string("{\"a\": ") + value + "}", "a"), HasSubstr("and not a whole number")) << value;
  }
}

TEST(JsonNumber, IsAViewOfItsOwn) {
  const Plan plan(
      Recipe::from_toml("[[view]]\nname = 'age'\nfield = 'json'\n"
                        "operators = [{op = 'json_number', key = 'age', dtype = 'f32'}]"));
  EXPECT_THAT(plan.fields(), ::testing::ElementsAre("json"));
  ASSERT_EQ(plan.outputs().size(), 1u);
  EXPECT_EQ(plan.outputs()[0].dtype, DType::kF32);
  EXPECT_EQ(plan.outputs()[0].bytes_per_sample(), 4u);
  CpuExecutor executor(plan);
  const Bytes fields[] = {as_bytes(R"({"age": 41.5})")};
  const std::vector<SampleOutput> outputs = run_one(executor, {.fields = fields});
  float age;
  std::memcpy(&age, outputs[0].bytes.data(), sizeof(age));
  EXPECT_EQ(age, 41.5f);
}

TEST(JsonNumber, HasAKeyThatMakesSense) {
  const auto refused = [](const std::string& key) {
    const std::string toml =
        "[[view]]\nname = 'x'\nfield = 'json'\noperators = [{op = 'json_number', key = '" + key + "'}]";
    return error_of([&] { Plan(Recipe::from_toml(toml)); }).message();
  };
  EXPECT_THAT(refused("/a~b"), HasSubstr("is not a JSON pointer"));
  EXPECT_THAT(refused("/a~"), HasSubstr("is not a JSON pointer"));
  EXPECT_EQ(read<std::int64_t>(R"({"a~": 5})", "a~"), 5);
}

TEST(JsonNumber, ComesFirstAndIsFollowedByOneHotAtMost) {
  const auto refusal = [](const std::string& operators) {
    const std::string toml = "[[view]]\nname = 'x'\nfield = 'json'\noperators = [" + operators + "]";
    return error_of([&] { Plan(Recipe::from_toml(toml)); }).message();
  };
  EXPECT_THAT(refusal("{op = 'json_number', key = 'a'}, {op = 'cast', dtype = 'f32'}"),
              HasSubstr("numbers take no operator but one_hot"));
  EXPECT_THAT(refusal("{op = 'decode'}, {op = 'json_number', key = 'a'}"),
              HasSubstr("must be the view's first operator"));
  EXPECT_THAT(refusal("{op = 'decode'}, {op = 'one_hot', classes = 4}"), HasSubstr("takes labels"));
  EXPECT_THAT(refusal("{op = 'json_number', key = 'a', dtype = 'f32'}, {op = 'one_hot', classes = 4}"),
              HasSubstr("one_hot takes whole numbers"));
}

}  // namespace
}  // namespace stoker
