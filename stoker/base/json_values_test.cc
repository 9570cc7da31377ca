#include "stoker/base/json_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/allocations_testing.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using Seen = std::vector<std::string>;

/// "pointer=value" for each value.
Seen values_of(std::string_view json) {
  Seen seen;
  const auto see = [&](const std::string& pointer, const nlohmann::json& value) {
    seen.push_back(pointer + "=" + value.dump());
  };
  EXPECT_EQ(for_each_json_value(json, see), nlohmann::json::accept(json)) << json;
  return seen;
}

TEST(JsonValues, AreSeenInOrderWithTheirPlaces) {
  EXPECT_THAT(values_of(R"({"a": 1, "b": [true, [], "x"], "c/d": {"e~": null, "": -2.5}, "f": 18446744073709551615})"),
              ElementsAre("={}", "/a=1", "/b=[]", "/b/0=true", "/b/1=[]", "/b/2=\"x\"", "/c~1d={}", "/c~1d/e~0=null",
                          "/c~1d/=-2.5", "/f=18446744073709551615"));
  EXPECT_THAT(values_of("[[1, 2], [3]]"), ElementsAre("=[]", "/0=[]", "/0/0=1", "/0/1=2", "/1=[]", "/1/0=3"));
  EXPECT_THAT(values_of("7"), ElementsAre("=7"));
}

TEST(JsonValues, AreAtTheirPlacesAsNlohmannFindsThem) {
  const std::string text = R"({"k": {"": [1, {"/": {"~": [[2], 3]}}]}, "a": [{"b": "c"}]})";
  const nlohmann::json whole = nlohmann::json::parse(text);
  EXPECT_TRUE(for_each_json_value(text, [&](const std::string& pointer, const nlohmann::json& value) {
    const nlohmann::json& there = whole.at(nlohmann::json::json_pointer(pointer));
    EXPECT_EQ(there.type(), value.type()) << pointer;
    EXPECT_TRUE(value.is_structured() || value == there) << pointer;
  }));
}

TEST(JsonValues, AreToldFromWhatIsNoJson) {
  for (const char* text : {"", "{", "[1,]", "{\"a\" 1}", "1 2", "nul", "\"\xff\"", "{\"a\": 1}}"}) values_of(text);
}

TEST(JsonDepth, CountsListsAndObjectsButNotTexts) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(parse_data_json(nested(kJsonDepthMax)).size(), 1u);
  EXPECT_TRUE(parse_data_json(nested(kJsonDepthMax + 1)).is_discarded());
  EXPECT_TRUE(parse_data_json(nested(200'000)).is_discarded());
  std::string objects;
  for (int i = 0; i < kJsonDepthMax; ++i) objects += R"({"a": )";
  EXPECT_FALSE(is_json_too_deep(objects + "1"));
  EXPECT_TRUE(is_json_too_deep(objects + "{}"));
  EXPECT_FALSE(is_json_too_deep(fmt::format(R"("{:[>1000}\"[", [])", ""))) << "they are a text";
  std::string many = "[";
  for (int i = 0; i < 1000; ++i) many += R"({"a": []}, )";
  EXPECT_EQ(parse_data_json(many + "0]").size(), 1001u) << "they lie beside one another";
  EXPECT_TRUE(parse_data_json("no JSON").is_discarded());
}

TEST(WholeNumber, IsWhatTheTypeHas) {
  const auto is_refused = [](auto whole, const char* text) {
    EXPECT_THROW(whole_number<decltype(whole)>(nlohmann::json::parse(text)), nlohmann::json::exception) << text;
  };
  EXPECT_EQ(whole_number<int>(nlohmann::json(-7)), -7);
  EXPECT_EQ(whole_number<std::int64_t>(nlohmann::ordered_json::parse("9223372036854775807")), INT64_MAX);
  EXPECT_EQ(whole_number<std::uint64_t>(nlohmann::json::parse("18446744073709551615")), UINT64_MAX);
  for (const char* text : {"1.0", "1e30", "-1e300", "\"1\"", "true", "null", "[1]"}) is_refused(0, text);
  is_refused(0, "2147483648");
  is_refused(0U, "-1");
  is_refused(std::int64_t{0}, "9223372036854775808");
}

TEST(JsonValues, TakeNoMemoryToForget) {
  const std::string text = R"({"a": [1, {"b": "a string that is too long for a short one"}], "c": {"d": {}}})";
  int told = 0;
  for (std::int64_t number = 0;; ++number) {
    std::int64_t seen = 0;
    const AllocationFault fault(number, true);
    try {
      for_each_json_value(text, [&](const std::string&, const nlohmann::json&) { ++seen; });
    } catch (const std::bad_alloc&) {
      ++told;
    }
    if (!fault.happened()) break;
  }
  EXPECT_GT(told, 5);
}

}  // namespace
}  // namespace stoker
