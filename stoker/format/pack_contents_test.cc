#include "stoker/format/pack_contents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

SampleRow row_of(const std::string& key, std::int64_t label, const std::vector<std::string_view>& names) {
  SampleRow row;
  row.key = key;
  row.label = label;
  for (const std::string_view name : names) row.fields.push_back({.name = name, .part = {}});
  return row;
}

TEST(PackContents, CountsFieldsOtherThanTheImageAndTheClass) {
  PackContents contents;
  contents.add(row_of("a", 3, {"cls", "jpg", "json"}));
  contents.add(row_of("b", -1, {"cls", "png", "json", "txt"}));
  contents.add(row_of("c", -1, {"mask.png", "webp"}));
  EXPECT_EQ(contents.samples(), 3);
  EXPECT_TRUE(contents.has_labels());
  EXPECT_THAT(contents.images(), ElementsAre("jpg", "png", "webp"));
  std::vector<std::string> names;
  for (const auto& [name, occurrence] : contents.others()) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("cls", "json", "mask.png", "txt")) << "a class that is no number is a field";
  EXPECT_EQ(contents.others().find("json")->second.samples, 2);
}

TEST(PackContents, NamesTheFirstSampleWithoutAField) {
  PackContents contents;
  contents.add(row_of("a", -1, {"jpg", "all", "early"}));
  contents.add(row_of("b", -1, {"jpg", "all", "late"}));
  contents.add(row_of("c", -1, {"jpg", "all"}));
  EXPECT_THAT(contents.others().find("all")->second.first_without, IsEmpty());
  EXPECT_THAT(contents.others().find("early")->second.first_without, HasSubstr("'b'"));
  EXPECT_THAT(contents.others().find("late")->second.first_without, HasSubstr("'a'"));
  EXPECT_FALSE(contents.has_labels());
}

}  // namespace
}  // namespace stoker
