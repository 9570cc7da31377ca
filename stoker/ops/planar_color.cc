#include "stoker/ops/planar_color.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "stoker/ops/planar_taps.h"
#include "stoker/tensor/rounding.h"

namespace stoker {
namespace {

// What one step of Cb and Cr adds to red, green and blue: JFIF.
constexpr std::array<double, 3> kFromCb = {0.0, -0.344136286, 1.772};
constexpr std::array<double, 3> kFromCr = {1.402, -0.714136286, 0.0};

// To 16 significant bits, ties to even.
float rounded_to_16_bits(double value) {
  constexpr int kDropped = 53 - 16;
  auto bits = std::bit_cast<std::uint64_t>(value);
  bits += (std::uint64_t{1} << (kDropped - 1)) - 1 + (bits >> kDropped & 1);
  bits &= ~((std::uint64_t{1} << kDropped) - 1);
  return static_cast<float>(std::bit_cast<double>(bits));
}

}  // namespace

PlanarColor::PlanarColor(const ColorMap& color) {
  for (std::size_t c = 0; c < ColorMap::kChannels; ++c) {
    const auto source = static_cast<std::size_t>(color.from[c]);
    scale[c] = color.scale[c];
    bias[c] = color.bias[c] + 0.0f;  // no negative zero: a sum that starts with it would depend on what is added
    from_cb[c] = rounded_to_16_bits(kFromCb[source] * static_cast<double>(color.scale[c]));
    from_cr[c] = rounded_to_16_bits(kFromCr[source] * static_cast<double>(color.scale[c]));
    const float of_black = 0.0f * scale[c] + bias[c];
    const float of_white = 255.0f * scale[c] + bias[c];
    low[c] = std::min(of_black, of_white);
    high[c] = std::max(of_black, of_white);
  }
}

std::array<std::uint8_t, 3> planar_padding(const std::array<std::uint8_t, 3>& color) {
  const std::array<std::uint8_t, 3> planes = ycc_from_rgb(color);
  const PlanarColor shown{ColorMap()};
  std::array<std::uint8_t, 3> rgb{};
  for (std::size_t c = 0; c < rgb.size(); ++c) {
    float value = static_cast<float>(planes[0]) * shown.scale[c] + shown.bias[c];
    value = value + static_cast<float>(planes[1] - 128) * shown.from_cb[c];
    value = value + static_cast<float>(planes[2] - 128) * shown.from_cr[c];
    rgb[c] = u8_from_f32(std::clamp(value, shown.low[c], shown.high[c]));
  }
  return rgb;
}

}  // namespace stoker
