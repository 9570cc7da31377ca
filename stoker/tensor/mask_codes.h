// How the pixels of a mask hold numbers.
#pragma once

#include <cstdint>

namespace stoker {

enum class MaskCodes : std::uint8_t {
  kIndex,  // a pixel's grey, or the index of its colour
  kRgb,    // red, 256 times green and 65,536 times blue, added up
};

}  // namespace stoker
