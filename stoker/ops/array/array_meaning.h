// What a step does to one number of an array: the definition, for every executor.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "stoker/ops/array/array_step.h"
#include "stoker/ops/picture/pixel_noise.h"

namespace stoker {

/// Of a step that standardizes: sums over all numbers of one channel, in the order of the output.
class ArrayStatistics {
 public:
  /// Sums of every kLanes-th number: of each lane in order, and at last the lanes'.
  static constexpr std::size_t kLanes = 8;

  void add(float value) {
    const auto number = static_cast<double>(value);
    sums_[count_ % kLanes] += number;
    squares_[count_ % kLanes] += number * number;
    ++count_;
  }
  /// The same for so many, side by side.
  void add(const float* values, std::size_t count) {
    std::size_t i = 0;
    for (; i < count && count_ % kLanes != 0; ++i) add(values[i]);
    for (; i + kLanes <= count; i += kLanes, count_ += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const auto number = static_cast<double>(values[i + lane]);
        sums_[lane] += number;
        squares_[lane] += number * number;
      }
    }
    for (; i < count; ++i) add(values[i]);
  }

  double mean() const { return total(sums_) / static_cast<double>(count_); }
  /// 0 where all numbers are the same.
  double deviation() const {
    const double of_mean = mean();
    return std::sqrt(std::max(0.0, total(squares_) / static_cast<double>(count_) - of_mean * of_mean));
  }

 private:
  static double total(const double (&lanes)[kLanes]) {
    double sum = 0;
    for (const double lane : lanes) sum += lane;
    return sum;
  }

  double sums_[kLanes] = {}, squares_[kLanes] = {};
  std::size_t count_ = 0;
};

/// What a step multiplies by, and adds.
struct ArrayScale {
  float factor = 1, bias = 0;

  static ArrayScale of(const ArrayStatistics& statistics) {
    const double deviation = statistics.deviation();
    if (deviation == 0) return {0, 0};
    return {static_cast<float>(1 / deviation), static_cast<float>(-statistics.mean() / deviation)};
  }
  static ArrayScale of(const ArrayStep& step, std::size_t channel) {
    const std::size_t place = step.low.size() == 1 ? 0 : channel;
    return {step.low[place], step.high[place]};
  }
  float apply(float value) const { return value * factor + bias; }
};

inline float clipped(float value, float low, float high) { return value < low ? low : value > high ? high : value; }

/// Number `index` of the output.
inline float with_noise(const DrawnArrayStep& step, float value, std::int64_t index) {
  return value + (PixelNoise::normal(step.key, index) * step.a + step.b);
}

}  // namespace stoker
