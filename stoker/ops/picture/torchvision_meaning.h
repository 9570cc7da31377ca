// The meaning of steps that do to a picture what torchvision 0.25 (transforms.v2) does to a tensor of bytes, step by
// step in float32, cut off to bytes at the end of each. Where PyTorch's CPU kernels fuse a product and a sum, so does
// this.
#pragma once

#include <math.h>

#include "stoker/ops/picture/linear_meaning.h"
#include "stoker/ops/picture/picture_pass.h"

namespace stoker {

/// A whole number.
STOKER_HOST_DEVICE inline float torchvision_grey(float r, float g, float b) {
  const float grey = fmaf(b, 0.114f, fmaf(g, 0.587f, r * 0.2989f));
  return static_cast<float>(static_cast<int>(grey));
}

STOKER_HOST_DEVICE inline std::uint8_t cut_to_byte(float value) {
  return static_cast<std::uint8_t>(clamped_to_byte(value));
}

STOKER_HOST_DEVICE inline void torchvision_hue(float shift, float (&rgb)[3]) {
  for (float& value : rgb) value = value * static_cast<float>(1.0 / 255);
  const float r = rgb[0], g = rgb[1], b = rgb[2];
  const float most = r > g ? (r > b ? r : b) : (g > b ? g : b), least = r < g ? (r < b ? r : b) : (g < b ? g : b);
  const float range = most - least, divisor = range == 0 ? 1 : range;
  const float saturation = range / (range == 0 ? 1 : most);
  const float from_r = (most - r) / divisor, from_g = (most - g) / divisor, from_b = (most - b) / divisor;
  float hue = most == r ? from_b - from_g : most == g ? (from_r + 2.0f) - from_b : (from_g + 4.0f) - from_r;
  hue = hue * static_cast<float>(1.0 / 6) + 1.0f;
  hue = hue >= 1 ? hue - 1 : hue;  // below 2
  hue = hue + shift;
  hue = hue < 0 ? hue + 1.0f : hue >= 1 ? hue - 1.0f : hue;
  const float sixths = hue * 6.0f;
  const int sixth = static_cast<int>(sixths);
  const float rest = saturation * (sixths - static_cast<float>(sixth)), unsaturated = 1.0f - saturation;
  const auto unit = [](float value) { return value < 0 ? 0 : value > 1 ? 1 : value; };
  const float q = unit((1.0f - rest) * most), t = unit((rest + unsaturated) * most), p = unit(unsaturated * most);
  switch (sixth) {
    case 1: rgb[0] = q, rgb[1] = most, rgb[2] = p; break;
    case 2: rgb[0] = p, rgb[1] = most, rgb[2] = t; break;
    case 3: rgb[0] = p, rgb[1] = q, rgb[2] = most; break;
    case 4: rgb[0] = t, rgb[1] = p, rgb[2] = most; break;
    case 5: rgb[0] = most, rgb[1] = p, rgb[2] = q; break;
    default: rgb[0] = most, rgb[1] = t, rgb[2] = p; break;  // 0, or 6 where the sum was rounded up to 1
  }
  for (float& value : rgb) value = value * 255.999f;
}

/// Brightness, where `mean` is 0, and contrast.
STOKER_HOST_DEVICE inline std::uint8_t torchvision_blend(const PictureStep& step, float mean, int value) {
  return cut_to_byte(fmaf(mean, step.f[1], static_cast<float>(value) * step.f[0]));
}

STOKER_HOST_DEVICE inline void torchvision_pixel(const PicturePass& pass, int x, int y) {
  float rgb[3];
  for (int c = 0; c < 3; ++c) rgb[c] = static_cast<float>(pass.at(x, y, c));
  const PictureStep& step = *pass.steps;
  const float grey = torchvision_grey(rgb[0], rgb[1], rgb[2]);
  switch (step.kind) {
    case PictureKind::kTorchvisionSaturation:
      for (float& value : rgb) value = fmaf(grey, step.f[1], value * step.f[0]);
      break;
    case PictureKind::kTorchvisionGrayscale: rgb[0] = rgb[1] = rgb[2] = grey; break;
    default: torchvision_hue(step.f[0], rgb); break;
  }
  for (int c = 0; c < 3; ++c) pass.put(x, y, c, cut_to_byte(rgb[c]));
}

}  // namespace stoker
