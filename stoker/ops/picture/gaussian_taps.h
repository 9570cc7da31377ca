// The weights of a Gaussian blur, and the arithmetic of its passes: horizontal first, with 7 bits of fraction between.
#pragma once

#include <cstdint>

#include "stoker/base/host_device.h"

namespace stoker {

/// One axis of a kernel. Samples left and right of the middle are added first; the middle is added to itself, with half
/// its weight. So the weights sum up to 1/2.
struct GaussianTaps {
  static constexpr int kRadiusMax = 63;
  static constexpr int kWeightBits = 15, kFractionBits = 7;

  int radius;
  std::int16_t weight[kRadiusMax + 1];  // by distance from the middle, in units of 2^-15

  /// The weight at distance i is ratio^(i^2), normalised; for a standard deviation s the ratio is exp(-1 / (2 s^2)).
  STOKER_HOST_DEVICE static GaussianTaps of(int radius, float ratio) {
    GaussianTaps taps;
    taps.radius = radius;
    float values[kRadiusMax + 1];
    float value = 1, factor = ratio, sum = 0.5f;  // of one side
    const float step = ratio * ratio;
    values[0] = 1;
    for (int i = 1; i <= radius; ++i) {
      value = value * factor;
      factor = factor * step;
      values[i] = value;
      sum = sum + value;
    }
    constexpr int kHalf = 1 << (kWeightBits - 1);
    int left = kHalf;
    for (int i = radius; i > 0; --i) {
      const int weight = static_cast<int>(values[i] / sum * (kHalf * 1.0f) + 0.5f);
      taps.weight[i] = static_cast<std::int16_t>(weight);
      left -= weight;
    }
    taps.weight[0] = static_cast<std::int16_t>(left);
    return taps;
  }

  /// An 8-bit value between the passes.
  STOKER_HOST_DEVICE static int widened(int value) { return (value - 128) * (1 << kFractionBits); }
  STOKER_HOST_DEVICE static int narrowed(int value) {
    return ((value + (1 << (kFractionBits - 1))) >> kFractionBits) + 128;
  }
  /// What a pair of values adds to a weighted sum. Neither the pair nor the sum leaves 16 bits.
  STOKER_HOST_DEVICE int weighted(int i, int pair) const {
    return (pair * weight[i] + (1 << (kWeightBits - 1))) >> kWeightBits;
  }
};

/// The sample that stands for place `at` of a row of `length`: the row is mirrored at its first and its last sample, as
/// often as it takes.
STOKER_HOST_DEVICE inline int reflected(int at, int length) {
  if (length == 1) return 0;
  const int period = 2 * (length - 1);
  const int place = (at % period + period) % period;
  return place < length ? place : period - place;
}

}  // namespace stoker
