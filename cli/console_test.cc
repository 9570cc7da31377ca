#include "cli/console.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(CutToWidth, KeepsTheLastColumnFree) {
  EXPECT_EQ(cut_to_width("12345", 6), "12345");
  EXPECT_EQ(cut_to_width("12345", 5), "1234");
  EXPECT_EQ(cut_to_width("12345", 1), "");
  EXPECT_EQ(cut_to_width("12345", 0), "");
}

}  // namespace
}  // namespace stoker
