// The meaning of linear runs. Their steps follow each other in float32, on values from 0 to 255; every product and
// every sum is rounded by itself, in the order written here, and each step's result is clamped. Bytes are rounded once,
// at the end.
#pragma once

#include "stoker/ops/picture/picture_pass.h"
#include "stoker/tensor/rounding.h"

namespace stoker {

STOKER_HOST_DEVICE inline float clamped_to_byte(float value) { return value < 0 ? 0 : value > 255 ? 255 : value; }

/// Grey as Rec. 601 weighs it.
STOKER_HOST_DEVICE inline float grey_of(const float (&rgb)[3]) {
  return (rgb[0] * 0.299f + rgb[1] * 0.587f) + rgb[2] * 0.114f;
}

/// Applies one step to a colour. `number` is what facts have for it.
STOKER_HOST_DEVICE inline void apply_linear(const PictureStep& step, float number, float (&rgb)[3]) {
  switch (step.kind) {
    case PictureKind::kAffine:
      for (int c = 0; c < 3; ++c) rgb[c] = rgb[c] * step.f[c] + step.f[3 + c];
      break;
    case PictureKind::kContrast:
      for (float& value : rgb) value = value * step.f[0] + number;
      break;
    case PictureKind::kSaturation: {
      const float grey = grey_of(rgb) * step.f[1];
      for (float& value : rgb) value = value * step.f[0] + grey;
      break;
    }
    case PictureKind::kMatrix: {
      const float r = rgb[0], g = rgb[1], b = rgb[2];
      for (int c = 0; c < 3; ++c) {
        const float* const row = step.f + 3 * c;
        rgb[c] = ((r * row[0] + g * row[1]) + b * row[2]) + step.f[9 + c];
      }
      break;
    }
    default: break;  // of no run
  }
  for (float& value : rgb) value = clamped_to_byte(value);
}

/// What each contrast adds: it depends on the mean colour as the steps before it leave that.
STOKER_HOST_DEVICE inline void find_linear_facts(const PicturePass& pass, const PictureStatistics& statistics) {
  float mean[3];
  for (int c = 0; c < 3; ++c) {
    mean[c] = static_cast<float>(static_cast<double>(statistics.sums[c]) / static_cast<double>(pass.pixels()));
  }
  for (int i = 0; i < pass.count; ++i) {
    pass.facts->number[i] = grey_of(mean) * pass.steps[i].f[1];
    apply_linear(pass.steps[i], pass.facts->number[i], mean);
  }
}

STOKER_HOST_DEVICE inline void linear_pixel(const PicturePass& pass, int x, int y) {
  float rgb[3];
  for (int c = 0; c < 3; ++c) rgb[c] = static_cast<float>(pass.at(x, y, c));
  for (int i = 0; i < pass.count; ++i) apply_linear(pass.steps[i], pass.facts->number[i], rgb);
  for (int c = 0; c < 3; ++c) pass.put(x, y, c, static_cast<std::uint8_t>(nearest_integer(rgb[c])));
}

}  // namespace stoker
