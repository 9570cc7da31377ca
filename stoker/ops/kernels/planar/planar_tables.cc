#include "stoker/ops/kernels/planar/planar_tables.h"

#include <algorithm>
#include <cassert>

namespace stoker {
namespace {

// What a weight of 256, always the first, gives to the one after it: both then fit a byte.
constexpr std::uint32_t passed_on(std::int32_t first_weight, int bits) {
  return bits == kPlanarBits ? static_cast<std::uint32_t>(first_weight) >> kPlanarBits : 0;
}

}  // namespace

PlanarRowTable PlanarRowTableBuilder::build(const PlanarAxisTaps& taps) {
  const auto outputs = static_cast<std::size_t>(taps.outputs);
  const int pairs_max = (taps.taps + 1) / 2, shift = taps.bits == kPlanarBits ? 8 : 16;
  const std::uint32_t mask = (std::uint32_t{1} << shift) - 1;
  auto* counts = counts_.array<std::int32_t>(taps.stride);
  auto* pairs = pairs_.array<std::uint32_t>(outputs * static_cast<std::size_t>(pairs_max));
  std::fill_n(counts, taps.stride, 1);
  for (int k = 1; k < taps.taps; ++k) {
    const std::int16_t* weights = taps.weight.data() + static_cast<std::size_t>(k) * taps.stride;
    for (std::size_t o = 0; o < taps.stride; ++o) counts[o] = weights[o] != 0 ? k + 1 : counts[o];
  }
  for (int p = 0; p < pairs_max; ++p) {
    const std::int16_t* weights = taps.weight.data() + 2 * static_cast<std::size_t>(p) * taps.stride;
    const bool partner = 2 * p + 1 < taps.taps;
    for (std::size_t o = 0; o < outputs; ++o) {
      const std::uint32_t first = static_cast<std::uint32_t>(weights[o]) & (2 * mask + 1);
      const std::uint32_t second = partner ? static_cast<std::uint32_t>(weights[taps.stride + o]) : 0;
      const std::uint32_t passed = p == 0 ? passed_on(weights[o], taps.bits) : 0;
      pairs[o * static_cast<std::size_t>(pairs_max) + static_cast<std::size_t>(p)] =
          ((first - passed) & mask) | (second + passed) << shift;
    }
  }
  return {taps.first.data(), counts, pairs, pairs_max};
}

PlanarColumnTable PlanarColumnTableBuilder::build(const PlanarAxisTaps& taps, int origin,
                                                  const PlanarKernels& kernels) {
  const bool bytes = taps.bits == kPlanarBits;
  const int taps_per_step = bytes ? 4 : 2, sample_bytes = bytes ? 1 : 2, shift = bytes ? 8 : 16;
  const int steps = (taps.taps + taps_per_step - 1) / taps_per_step;
  const std::size_t stride = taps.stride, block = static_cast<std::size_t>(kernels.block);
  auto* weights = numbers_.array<std::uint32_t>(stride * (static_cast<std::size_t>(steps) + 3));
  std::uint32_t* shuffle = weights + stride * static_cast<std::size_t>(steps);
  auto* offset = reinterpret_cast<std::int32_t*>(shuffle + stride);
  std::int32_t* base = offset + stride;
  static_assert(PlanarAxisTaps::kGroup % 16 == 0);

  const std::int16_t* first_weights = taps.weight.data();
  for (std::size_t o = 0; o < stride; ++o) offset[o] = (taps.first[o] - origin) * sample_bytes;
  bool wide = false;
  for (std::size_t begin = 0; begin < stride; begin += block) {
    std::int32_t least = offset[begin], most = offset[begin];
    for (std::size_t o = begin + 1; o < begin + block; ++o) {
      least = std::min(least, offset[o]);
      most = std::max(most, offset[o]);
    }
    base[begin / block] = least;
    wide = wide || most - least + 4 > kernels.window;
    for (std::size_t o = begin; o < begin + block; ++o)
      shuffle[o] = static_cast<std::uint32_t>(offset[o] - least) * 0x01010101U;
  }
  if (wide) {
    for (std::size_t o = 0; o < stride; ++o) shuffle[o] = static_cast<std::uint32_t>(o % 4) * 0x04040404U;
  }
  // The byte of the second tap is that of the first where that passes something on.
  for (std::size_t o = 0; o < stride; ++o) shuffle[o] += 0x03020100U - (passed_on(first_weights[o], taps.bits) << 8);

  for (int k = 0; k < steps; ++k) {
    std::uint32_t* of_step = weights + static_cast<std::size_t>(k) * stride;
    const std::int16_t* from = taps.weight.data() + static_cast<std::size_t>(k * taps_per_step) * stride;
    const int count = std::min(taps_per_step, taps.taps - k * taps_per_step);
    for (std::size_t o = 0; o < stride; ++o) of_step[o] = static_cast<std::uint16_t>(from[o]);
    for (int t = 1; t < count; ++t) {
      const std::int16_t* more = from + static_cast<std::size_t>(t) * stride;
      for (std::size_t o = 0; o < stride; ++o)
        of_step[o] |= static_cast<std::uint32_t>(static_cast<std::uint16_t>(more[o])) << (t * shift);
    }
  }
  // 256 = 255 + 1: as two bytes, 0x0100 becomes 0x01FF.
  for (std::size_t o = 0; o < stride; ++o) weights[o] += passed_on(first_weights[o], taps.bits) * 0xFF;
  return {taps.outputs, steps, wide, stride, base, shuffle, offset, weights};
}

}  // namespace stoker
