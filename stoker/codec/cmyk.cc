#include "stoker/codec/cmyk.h"

#include <algorithm>

namespace stoker {
namespace {

// a * b / 255, rounded to nearest, for 0 <= a, b <= 255.
int product_of_255ths(int a, int b) {
  const int product = a * b + 128;
  return (product + (product >> 8)) >> 8;
}

// Pillow takes the ink's share of the light that black lets through, and rounds that share, not the light that remains.
std::uint8_t light(int inverted_ink, int inverted_black) {
  return static_cast<std::uint8_t>(inverted_black - product_of_255ths(255 - inverted_ink, inverted_black));
}

}  // namespace

void inverted_cmyk_to_rgb_in_place(std::uint8_t* pixels, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t* cmyk = pixels + 4 * i;
    const std::uint8_t rgb[] = {light(cmyk[0], cmyk[3]), light(cmyk[1], cmyk[3]), light(cmyk[2], cmyk[3])};
    std::copy(rgb, rgb + 3, pixels + 3 * i);
  }
}

}  // namespace stoker
