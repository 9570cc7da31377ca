#include "stoker/base/escaped.h"

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

}  // namespace
}  // namespace stoker
