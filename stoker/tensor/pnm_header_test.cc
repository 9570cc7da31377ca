#include "stoker/tensor/pnm_header.h"

#include <gtest/gtest.h>

#include <string_view>

namespace stoker {
namespace {

using namespace std::string_view_literals;

TEST(PnmHeader, SaysWhereTheSamplesBegin) {
  const PnmHeader header = read_pnm_header(as_bytes("P6\n# a comment\n640 480 # another\n255\n..."));
  EXPECT_EQ(header.kind, 6);
  EXPECT_EQ(header.width, 640);
  EXPECT_EQ(header.height, 480);
  EXPECT_EQ(header.value_max, 255);
  EXPECT_EQ(header.data, 37u);
  EXPECT_EQ(header.channels(), 3);
  EXPECT_FALSE(header.is_text());
}

TEST(PnmHeader, IsToldFromTextByAllOfItself) {
  for (const std::string_view text : {"P4 3 2\n"sv, "P1\n#\n1 1 "sv, "P5\n640 480\n255\n"sv, "P6\t1\r1\n65535 "sv}) {
    EXPECT_TRUE(has_pnm_header(as_bytes(text))) << text;
  }
  for (const std::string_view text :
       {""sv, "P"sv, "P5"sv, "P5 "sv, "P5 640"sv, "P5 640 480"sv, "P5 640 480 255"sv, "P5 1 of 3 papers"sv, "P0 1 1 "sv,
        "P7 1 1 255 "sv, "p5 1 1 255 "sv, "P51 1 1 255 "sv, "P5 0 1 255 "sv, "P5 1 1 65536 "sv, "P5,1,1,255,"sv,
        "P5 1 1 255, "sv, "P2 # heading"sv}) {
    EXPECT_FALSE(has_pnm_header(as_bytes(text))) << text;
  }
}

}  // namespace
}  // namespace stoker
