#include "stoker/format/json_text.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace stoker {
namespace {

using Json = nlohmann::ordered_json;

TEST(JsonText, KeepsNamesOfAnyBytes) {
  for (const std::string& name : {std::string(), std::string("caf\xc3\xa9"), std::string("caf\xe9"),
                                  std::string("\xff\0/\n", 4), std::string("{\"hex\": \"00\"}")}) {
    EXPECT_EQ(name_of(Json::parse(name_json(name).dump())), name);
  }
  EXPECT_EQ(name_json("caf\xc3\xa9").dump(), "\"caf\xc3\xa9\"");
  EXPECT_EQ(name_json("caf\xe9").dump(), R"({"hex":"636166e9"})");
}

TEST(JsonText, FindsNamesWhereverTheyStand) {
  const Json json = {{"samples", 3}, {"bad", {{{"key", "a\xe9"}, {"reason", "why"}}}}, {"fields", {"\xff", "jpg"}}};
  EXPECT_EQ(with_names(json).dump(),
            R"({"samples":3,"bad":[{"key":{"hex":"61e9"},"reason":"why"}],"fields":[{"hex":"ff"},"jpg"]})");
}

TEST(JsonText, RefusesWhatAreNoPairsOfDigits) {
  for (const char* digits : {"6", "6g", "616", " 1"}) {
    EXPECT_THROW(name_of({{"hex", digits}}), std::invalid_argument) << digits;
  }
}

}  // namespace
}  // namespace stoker
