// Random numbers of pixels: functions of a step's key and a pixel's place alone, so that any executor makes them in any
// order. Only multiplications, additions and square roots, each rounded by itself in this order: the same bits on every
// machine.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "stoker/base/host_device.h"
#include "stoker/base/philox.h"

namespace stoker {

struct PixelNoise {
  /// Words come in groups of 16 blocks of Philox, first the first words of all blocks, so that vectors of any length
  /// hold words that lie side by side.
  static constexpr int kBlocks = 16, kGroupWords = 4 * kBlocks;
  /// Deviates come in groups, too: of two made from one word, the second lies so many places after the first.
  static constexpr int kGroupDeviates = 2 * kGroupWords;

  STOKER_HOST_DEVICE static std::uint32_t word(std::uint64_t key, std::int64_t index) {
    const auto block = static_cast<std::uint64_t>(index / kGroupWords * kBlocks + index % kBlocks);
    return Philox::block({{static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 0, 0}},
                         static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32))
        .word[index % kGroupWords / kBlocks];
  }

  /// Normal deviate number `index`: by Box and Muller's method, the radius from the upper half of a word, the angle
  /// from the lower one. None is beyond 4.86.
  STOKER_HOST_DEVICE static float normal(std::uint64_t key, std::int64_t index) {
    const std::int64_t group = index / kGroupDeviates;
    const int part = static_cast<int>(index % kGroupDeviates) / kBlocks;
    const std::uint32_t bits = word(key, group * kGroupWords + part / 2 * kBlocks + index % kBlocks);
    const float r = radius(bits >> 16);
    const std::uint32_t turn = bits & 0xFFFF;
    const Direction direction = direction_of(static_cast<int>(turn & 0x3FFF));
    // Quarter turns exchange sine and cosine, and change signs.
    const bool odd = (turn >> 14 & 1) != 0, half = (turn >> 15 & 1) != 0;
    const float cosine = odd ? -direction.sine : direction.cosine, sine = odd ? direction.cosine : direction.sine;
    const float value = r * (part % 2 == 0 ? cosine : sine);
    return half ? -value : value;
  }

  // log(1 + t) = t + t^2 * (kLog[0] + kLog[1] * t + ...) for 1 + t between sqrt(1/2) and sqrt(2), to 1.4e-7.
  static constexpr float kLog0 = -0.50000083f, kLog1 = 0.33334354f, kLog2 = -0.24983448f, kLog3 = 0.19918212f,
                         kLog4 = -0.17102107f, kLog5 = 0.1608035f, kLog6 = -0.1043442f;
  static constexpr float kLn2 = 0.693147182f;
  // sin(a) = a + a * a^2 * (...), cos(a) = 1 + a^2 * (...) in powers of a^2, for |a| up to pi / 4, to 1.1e-7.
  static constexpr float kSin0 = -0.16666664f, kSin1 = 0.0083327489f, kSin2 = -0.0001958795f;
  static constexpr float kCos0 = -0.49999982f, kCos1 = 0.041661415f, kCos2 = -0.0013661232f;
  /// The angle from one direction to the next: a quarter turn in 2^14 parts, taken at their middles.
  static constexpr float kAngleStep = 9.58737992e-05f;
  // The bits of sqrt(1/2), at and above which a number's mantissa is halved.
  static constexpr std::uint32_t kSqrtHalfBits = 0x3F3504F3;

  /// sqrt(-2 log((bits + 1/2) / 2^16)).
  STOKER_HOST_DEVICE static float radius(std::uint32_t bits) {
    const float uniform = static_cast<float>(static_cast<std::int32_t>(2 * bits + 1)) * 0x1p-17f;
    std::uint32_t pattern;
    memcpy(&pattern, &uniform, sizeof(pattern));
    // uniform = mantissa * 2^exponent, the mantissa from sqrt(1/2) on.
    const std::uint32_t above = pattern - kSqrtHalfBits;
    const auto exponent = static_cast<std::int32_t>(above) >> 23;
    const std::uint32_t mantissa_pattern = (above & 0x7FFFFF) + kSqrtHalfBits;
    float mantissa;
    memcpy(&mantissa, &mantissa_pattern, sizeof(mantissa));
    const float t = mantissa - 1.0f;
    float sum = kLog6 * t + kLog5;
    sum = sum * t + kLog4;
    sum = sum * t + kLog3;
    sum = sum * t + kLog2;
    sum = sum * t + kLog1;
    sum = sum * t + kLog0;
    const float log = static_cast<float>(exponent) * kLn2 + (t * t * sum + t);
    return std::sqrt(log * -2.0f);
  }

 private:
  struct Direction {
    float cosine, sine;
  };
  STOKER_HOST_DEVICE static Direction direction_of(int part) {
    const float angle = (static_cast<float>(part - 0x2000) + 0.5f) * kAngleStep;
    const float square = angle * angle;
    const float cosine = square * ((kCos2 * square + kCos1) * square + kCos0) + 1.0f;
    const float sine = angle * square * ((kSin2 * square + kSin1) * square + kSin0) + angle;
    return {cosine, sine};
  }
};

}  // namespace stoker
