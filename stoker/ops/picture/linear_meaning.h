// The meaning of linear runs. Their steps follow each other in float32, on values from 0 to 255; every product and
// every sum is rounded by itself, in the order written here, and each step's result is clamped.
#pragma once

#include "stoker/ops/picture/picture_pass.h"
#include "stoker/tensor/rounding.h"

namespace stoker {

STOKER_HOST_DEVICE inline float clamped_to_byte(float value) { return value < 0 ? 0 : value > 255 ? 255 : value; }

/// Applies one step to a colour.
STOKER_HOST_DEVICE inline void apply_linear(const PictureStep& step, float (&rgb)[3]) {
  switch (step.kind) {
    case PictureKind::kAffine:
      for (int c = 0; c < 3; ++c) rgb[c] = rgb[c] * step.f[c] + step.f[3 + c];
      break;
    default: break;  // of no run
  }
  for (float& value : rgb) value = clamped_to_byte(value);
}

STOKER_HOST_DEVICE inline void linear_pixel(const PicturePass& pass, int x, int y) {
  float rgb[3];
  for (int c = 0; c < 3; ++c) rgb[c] = static_cast<float>(pass.at(x, y, c));
  for (int i = 0; i < pass.count; ++i) apply_linear(pass.steps[i], rgb);
  for (int c = 0; c < 3; ++c) pass.put(x, y, c, static_cast<std::uint8_t>(nearest_integer(rgb[c])));
}

}  // namespace stoker
