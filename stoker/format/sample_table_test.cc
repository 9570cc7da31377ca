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
  table.add_field("jpg", 0, "a/x.jpg", 10, 20);
  table.add_field("json", 1, "elsewhere", 30, 40);
  table.add_sample("", -1);
  table.add_sample("a/y", 4);
  table.add_field("json", 0, "", 50, 60);
  ASSERT_EQ(table.size(), 3);
  EXPECT_EQ(table.key(0), "a/x");
  EXPECT_EQ(table.key(1), "");
  EXPECT_EQ(table.key(2), "a/y");
  EXPECT_EQ(table.label(2), 4);
  table.set_label(2, 7);
  EXPECT_EQ(table.label(2), 7);
  ASSERT_EQ(table.fields(0).size(), 2u);
  EXPECT_TRUE(table.fields(1).empty());
  ASSERT_EQ(table.fields(2).size(), 1u);
  EXPECT_EQ(table.part(table.fields(0)[0]), "a/x.jpg");
  EXPECT_EQ(table.part(table.fields(0)[1]), "elsewhere");
  EXPECT_EQ(table.part(table.fields(2)[0]), "");
  EXPECT_EQ(table.fields(0)[1].source, 1u);
  EXPECT_EQ(table.fields(0)[1].offset, 30u);
  EXPECT_EQ(table.fields(2)[0].length, 60u);
  EXPECT_THAT(table.field_names(), ElementsAre("jpg", "json"));
  EXPECT_EQ(table.field_number("json"), 1);
  EXPECT_EQ(table.field_number("cls"), -1);
}

TEST(SampleTable, AppendsAnotherTablesRowsAndRenumbersTheirFieldsAndSources) {
  SampleTable first, second;
  first.add_sample("a", 1);
  first.add_field("jpg", 0, "a.jpg", 1, 2);
  second.add_sample("b", 2);
  second.add_field("cls", 0, "b.cls", 3, 4);
  second.add_field("jpg", 0, "b.jpg", 5, 6);
  second.add_sample("c", 3);
  second.add_field("jpg", 0, "other.jpg", 7, 8);
  first.append(second, 5);
  first.shrink_to_fit();
  ASSERT_EQ(first.size(), 3);
  EXPECT_EQ(first.key(1), "b");
  EXPECT_EQ(first.key(2), "c");
  EXPECT_EQ(first.label(2), 3);
  EXPECT_THAT(first.field_names(), ElementsAre("jpg", "cls"));
  ASSERT_EQ(first.fields(0).size(), 1u);
  ASSERT_EQ(first.fields(1).size(), 2u);
  ASSERT_EQ(first.fields(2).size(), 1u);
  EXPECT_EQ(first.fields(0)[0].source, 0u);
  EXPECT_EQ(first.fields(1)[0].source, 5u);
  EXPECT_EQ(first.fields(1)[0].name, 1u);
  EXPECT_EQ(first.fields(1)[1].name, 0u);
  EXPECT_EQ(first.part(first.fields(1)[1]), "b.jpg");
  EXPECT_EQ(first.part(first.fields(2)[0]), "other.jpg");
  EXPECT_EQ(first.fields(2)[0].offset, 7u);
}

TEST(SampleTable, RefusesWhatItsColumnsCannotHold) {
  SampleTable table;
  table.add_sample("a", 0);
  table.add_field("jpg", 0, std::string(65535, 'x'), 0, 0);
  EXPECT_EQ(table.part(table.fields(0)[0]).size(), 65535u);
  EXPECT_EQ(error_of([&] { table.add_field("jpg", 0, std::string(65536, 'x'), 0, 0); }).kind(), ErrorKind::kLimit);
  const Error error = error_of([&] {
    for (int i = 0; i < 5000; ++i) table.add_field(fmt::format("{}.jpg", i), 0, "", 0, 0);
  });
  EXPECT_EQ(error.kind(), ErrorKind::kLimit);
  EXPECT_THAT(error.message(), HasSubstr("dot"));
}

}  // namespace
}  // namespace stoker
