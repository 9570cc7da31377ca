// The colour step of planar mode: Y, Cb, Cr to RGB folded with a view's color map, in float32. docs/pixels.md says
// which operations happen in which order.
#pragma once

#include <array>
#include <cstdint>

#include "stoker/ops/color_map.h"

namespace stoker {

/// By output channel: (((y * scale + bias) + cb * from_cb) + cr * from_cr), clamped to [low, high]; y is 0 .. 255, cb
/// and cr are -128 .. 127. from_cb and from_cr have 16 significant bits, so that products with them are exact, and come
/// out the same whether they are fused with the sum or not.
struct PlanarColor {
  std::array<float, ColorMap::kChannels> scale{}, bias{}, from_cb{}, from_cr{};
  std::array<float, ColorMap::kChannels> low{}, high{};

  explicit PlanarColor(const ColorMap& color);
};

/// What padding of an RGB colour looks like in planar mode: each of Y, Cb and Cr is rounded.
std::array<std::uint8_t, 3> planar_padding(const std::array<std::uint8_t, 3>& color);

}  // namespace stoker
