// The meaning of sharpness: a picture blended with a smoothed one, as torchvision does with tensors of bytes.
#pragma once

#include "stoker/ops/picture/picture_pass.h"

namespace stoker {

/// A value of a pixel that has all its neighbours. f[0]: the share of the smoothed picture, 1 - factor.
STOKER_HOST_DEVICE inline void sharpness_value(const PicturePass& pass, int x, int y, int c) {
  const int value = pass.at(x, y, c);
  int sum = 4 * value;
  for (int j = -1; j <= 1; ++j) {
    for (int i = -1; i <= 1; ++i) sum += pass.at(x + i, y + j, c);
  }
  const int smooth = (sum + 6) / 13;  // the nearest: no sum lies halfway
  const float change = pass.steps->f[0] * static_cast<float>(smooth - value);
  const float blended = static_cast<float>(value) + change;
  // Cut off, not rounded: torchvision's cast.
  pass.put(x, y, c, static_cast<std::uint8_t>(blended < 0 ? 0 : blended > 255 ? 255 : static_cast<int>(blended)));
}

/// Pixels at the border stay.
STOKER_HOST_DEVICE inline void sharpness_pixel(const PicturePass& pass, int x, int y) {
  const bool inside = x > 0 && y > 0 && x < pass.width - 1 && y < pass.height - 1;
  for (int c = 0; c < 3; ++c) {
    if (inside) {
      sharpness_value(pass, x, y, c);
    } else {
      pass.put(x, y, c, static_cast<std::uint8_t>(pass.at(x, y, c)));
    }
  }
}

}  // namespace stoker
