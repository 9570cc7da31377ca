#include "stoker/format/record_field.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(FindField, TakesTheLongestFieldForTheRecord) {
  SampleRow row;
  EXPECT_EQ(find_field(row, "record"), nullptr);
  row.fields = {{.name = "size.varint", .part = {}, .length = 3},
                {.name = "x", .part = {}, .length = 70},
                {.name = "y", .part = {}, .length = 70}};
  ASSERT_NE(find_field(row, "record"), nullptr);
  EXPECT_EQ(find_field(row, "record")->name, "x");
  EXPECT_EQ(find_field(row, "y")->name, "y");
  EXPECT_EQ(find_field(row, "z"), nullptr);
}

TEST(FindField, TakesAFieldThatIsCalledRecordAtItsWord) {
  SampleRow row;
  row.fields = {{.name = "jpg", .part = {}, .length = 70}, {.name = "record", .part = {}, .length = 3}};
  EXPECT_EQ(find_field(row, "record")->name, "record");
  EXPECT_EQ(find_field(row, "image")->name, "jpg");
}

}  // namespace
}  // namespace stoker
