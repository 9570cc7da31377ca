#include "stoker/codec/cmyk.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace stoker {
namespace {

TEST(Cmyk, EndsOfTheScaleAreInkAndPaper) {
  std::vector<std::uint8_t> pixels = {255, 255, 255, 255, 0, 0, 0, 255, 255, 255, 255, 0, 0, 255, 255, 255};
  inverted_cmyk_to_rgb_in_place(pixels.data(), 4);
  pixels.resize(12);
  EXPECT_EQ(pixels, (std::vector<std::uint8_t>{255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 255, 255}));
}

TEST(Cmyk, RoundsTheInksShareToNearestForEveryPair) {
  for (int ink = 0; ink < 256; ++ink) {
    for (int black = 0; black < 256; ++black) {
      std::uint8_t pixel[4] = {static_cast<std::uint8_t>(ink), 128, 255, static_cast<std::uint8_t>(black)};
      inverted_cmyk_to_rgb_in_place(pixel, 1);
      const int share = static_cast<int>(std::floor((255 - ink) * black / 255.0 + 0.5));
      ASSERT_EQ(pixel[0], black - share) << ink << ", " << black;
      ASSERT_EQ(pixel[2], black);
    }
  }
}

}  // namespace
}  // namespace stoker
