#include "stoker/format/sample_table.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/base/error_testing.h"
#include "stoker/format/tar_testing.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SampleTable, ReturnsWhatWasAdded) {
  SampleTable table;
  table.add_sample("a/x", 3);
  table.add_field("jpg", "a/x.jpg", 10, 20);
  table.add_field("json", "elsewhere", 30, 40);
  table.add_sample("", -1);
  table.add_sample("a/y", 4);
  table.add_field("json", "", 50, 60);
  ASSERT_EQ(table.size(), 3);
  EXPECT_EQ(table.key(0), "a/x");
  EXPECT_EQ(table.key(1), "");
  EXPECT_EQ(table.key(2), "a/y");
  EXPECT_EQ(table.label(2), 4);
  ASSERT_EQ(table.fields(0).size(), 2u);
  EXPECT_TRUE(table.fields(1).empty());
  ASSERT_EQ(table.fields(2).size(), 1u);
  EXPECT_EQ(table.part(table.fields(0)[0]), "a/x.jpg");
  EXPECT_EQ(table.part(table.fields(0)[1]), "elsewhere");
  EXPECT_EQ(table.part(table.fields(2)[0]), "");
  EXPECT_EQ(table.fields(0)[1].offset, 30u);
  EXPECT_EQ(table.fields(2)[0].length, 60u);
  EXPECT_THAT(table.field_names(), ElementsAre("jpg", "json"));
}

TEST(SampleTable, RefusesWhatItsColumnsCannotHold) {
  SampleTable table;
  table.add_sample("a", 0);
  table.add_field("jpg", std::string(65535, 'x'), 0, 0);
  EXPECT_EQ(table.part(table.fields(0)[0]).size(), 65535u);
  EXPECT_EQ(error_of([&] { table.add_field("jpg", std::string(65536, 'x'), 0, 0); }).kind(), ErrorKind::kLimit);
  const Error error = error_of([&] {
    for (int i = 0; i < 5000; ++i) table.add_field(fmt::format("{}.jpg", i), "", 0, 0);
  });
  EXPECT_EQ(error.kind(), ErrorKind::kLimit);
  EXPECT_THAT(error.message(), HasSubstr("dot"));
}

TEST(SampleTable, KeepsTheChecksumsOfShardsThatHaveThem) {
  SampleRow row;
  row.key = "a";
  row.fields = {{.name = "jpg", .part = {}, .length = 1, .crc32 = 7},
                {.name = "cls", .part = {}, .length = 1, .crc32 = 0}};
  SampleTable table;
  table.add(row);
  SampleRow read;
  table.read(0, read);
  EXPECT_EQ(read.fields[0].crc32, 7U);
  EXPECT_EQ(read.fields[1].crc32, 0U);
  table.add_field("txt", "", 0, 1);
  table.read(0, read);
  EXPECT_FALSE(read.fields[0].crc32) << "not all fields have one";
}

}  // namespace
}  // namespace stoker
