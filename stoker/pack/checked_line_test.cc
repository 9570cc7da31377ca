#include "stoker/pack/checked_line.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace stoker {
namespace {

using Json = nlohmann::json;

TEST(CheckedLine, IsReadAsItWasWritten) {
  const Json json = {{"samples", INT64_MAX}, {"name", "a\tb\n"}, {"list", {1, -2}}};
  std::string line = checked_line(json);
  ASSERT_EQ(line.back(), '\n');
  line.pop_back();
  EXPECT_EQ(json_of_line(line), std::optional(json));
  for (std::size_t length = 0; length < line.size(); ++length) EXPECT_FALSE(json_of_line(line.substr(0, length)));
}

TEST(WholeJson, HasNoFractions) {
  EXPECT_EQ(parse_whole_json(R"({"a": [1, -2, "1.5"]})"), (Json{{"a", {1, -2, "1.5"}}}));
  for (const char* text : {"1.5", "[7.2e27]", R"({"a": {"b": -1e300}})", "1e2", "18446744073709551616", "[1", ""}) {
    EXPECT_THROW(parse_whole_json(text), Json::exception) << text;
  }
}

TEST(JsonText, KeepsBytesThatAreNotText) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(from_json_text(Json::parse(Json(to_json_text(all)).dump()).get<std::string>()), all);
}

}  // namespace
}  // namespace stoker
