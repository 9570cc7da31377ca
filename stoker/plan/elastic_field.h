// Where the pixels of a picture that went through an elastic field come from: what is no picture follows the field by
// them, since it has no inverse that could be written down.
#pragma once

#include "stoker/ops/picture/picture_step.h"
#include "stoker/ops/picture/warp_meaning.h"
#include "stoker/tensor/image.h"

namespace stoker {

/// Calls `see` for each pixel (x, y) of the output with the place of the input that it shows, from its upper left
/// corner. None is told of pixels that show nothing of the input.
template <typename See>
void for_each_place(const PictureStep& step, ImageSize in, ImageSize out, const See& see) {
  PicturePass pass{};
  pass.steps = &step;
  pass.count = 1;
  pass.in_width = in.width;
  pass.in_height = in.height;
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x) {
      const WarpPlace place = elastic_place(pass, x, y);
      if (place.x == -WarpPlace::kOne || place.y == -WarpPlace::kOne) continue;
      see(x, y, static_cast<double>(place.x) / WarpPlace::kOne + 0.5,
          static_cast<double>(place.y) / WarpPlace::kOne + 0.5);
    }
  }
}

}  // namespace stoker
