#include "cli/text_table.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(TextTable, AlignsColumnsAndLeavesNothingAtTheEndsOfLines) {
  TextTable table({{"stage"}, {"us", Align::kRight}, {"operators"}});
  table.add_row({"decode", "12", "decode()"});
  table.add_row({"color", "3456", ""});
  EXPECT_EQ(table.text(),
            "stage     us  operators\n"
            "decode    12  decode()\n"
            "color   3456\n");
}

}  // namespace
}  // namespace stoker
