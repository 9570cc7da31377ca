#include "cli/console.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(Escaped, LeavesTextAsItIs) {
  EXPECT_EQ(escaped("caf\u00e9 \u4e2d 'a/b.jpg' \\ \xff"), "caf\u00e9 \u4e2d 'a/b.jpg' \\ \xff");
}

TEST(Escaped, MakesControlBytesHarmless) {
  EXPECT_EQ(escaped("a\nb\tc\rd"), "a\\nb\\tc\\x0dd");
  EXPECT_EQ(escaped("\x1b[2J\x7f\a"), "\\x1b[2J\\x7f\\x07");
  EXPECT_EQ(escaped("\u009b2J"), "\\x9b2J");
  EXPECT_EQ(escaped(std::string_view("\0", 1)), "\\x00");
}

TEST(CutToWidth, KeepsTheLastColumnFree) {
  EXPECT_EQ(cut_to_width("12345", 6), "12345");
  EXPECT_EQ(cut_to_width("12345", 5), "1234");
  EXPECT_EQ(cut_to_width("12345", 1), "");
  EXPECT_EQ(cut_to_width("12345", 0), "");
}

}  // namespace
}  // namespace stoker
