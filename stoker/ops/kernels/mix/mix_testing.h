// Shared by tests of mixing: tensors, what becomes of them, and the definition in plain loops.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "stoker/base/noise_testing.h"
#include "stoker/ops/color_map.h"
#include "stoker/ops/geometry.h"
#include "stoker/ops/mix_element.h"

namespace stoker {

/// Of every kind that suits the group, boxes that are empty or all of the picture among them.
inline std::vector<MixDraw> random_mixes(int group, ImageSize size, Noise& noise) {
  using enum MixDraw::Kind;
  const auto unit = [&] { return static_cast<float>(noise.between(0, 1000)) / 1000; };
  std::vector<MixDraw> mixes(static_cast<std::size_t>(group));
  for (MixDraw& mix : mixes) {
    mix.kind = group == 4 ? (noise.between(0, 3) == 0 ? kKeep : kQuarters)
                          : std::vector{kKeep, kBlend, kBlend, kPaste}[static_cast<std::size_t>(noise.between(0, 3))];
    mix.left = noise.between(0, size.width);
    mix.right = noise.between(mix.left, size.width);
    mix.top = noise.between(0, size.height);
    mix.bottom = noise.between(mix.top, size.height);
    mix.weight[0] = unit();
    mix.weight[1] = 1.0f - mix.weight[0];
  }
  if (noise.between(0, 1)) std::fill(mixes.begin() + 1, mixes.end(), mixes.front());
  return mixes;
}

/// Finite values of all magnitudes and signs.
inline std::vector<std::vector<std::uint8_t>> random_tensors(int count, ImageSize size, DType dtype, Noise& noise) {
  const auto elements = static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height) * 3;
  std::vector<std::vector<std::uint8_t>> tensors;
  for (int i = 0; i < count; ++i) {
    std::vector<std::uint8_t>& tensor = tensors.emplace_back(elements * size_of(dtype));
    for (std::size_t e = 0; e < elements; ++e) {
      std::uint32_t bits = (noise.next() << 8) ^ noise.next();
      if (dtype == DType::kF16) bits &= 0xFBFF;                           // below 2^15
      if (dtype == DType::kBF16) bits &= 0xBFFF;                          // below 2, and subnormal ones
      if (dtype == DType::kF32) bits = (bits & 0x87FFFFFF) | 0x38000000;  // around 1
      store_bits(bits, dtype, tensor.data(), static_cast<std::int64_t>(e));
    }
  }
  return tensors;
}

inline void mix_plainly(std::vector<std::vector<std::uint8_t>>& tensors, const std::vector<MixDraw>& mixes,
                        TensorFormat format, ImageSize size) {
  const MixDraw* draws[kMixGroupMax] = {};
  std::uint8_t* each[kMixGroupMax] = {};
  for (std::size_t m = 0; m < mixes.size(); ++m) {
    draws[m] = &mixes[m];
    each[m] = tensors[m].data();
  }
  for (int c = 0; c < 3; ++c) {
    for (int y = 0; y < size.height; ++y) {
      for (int x = 0; x < size.width; ++x) {
        const int index =
            format.layout == Layout::kNchw ? (c * size.height + y) * size.width + x : (y * size.width + x) * 3 + c;
        mix_element(draws, each, static_cast<int>(mixes.size()), format.dtype, index, x, y);
      }
    }
  }
}

}  // namespace stoker
