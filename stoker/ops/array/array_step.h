// What may happen to the numbers of an array, one by one, in float32: every operation is rounded by itself.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/base/random.h"
#include "stoker/ops/geometry.h"

namespace stoker {

/// As a recipe says it.
struct ArrayStep {
  enum class Kind : std::uint8_t {
    kClip,         // to low and high
    kScale,        // x * low[c] + high[c]: what normalize comes to, c being the place along the first axis
    kStandardize,  // (x - mean) / deviation, both of the numbers as they are by then
    kFactor,       // x * f, with f drawn from low to high
    kNoise,        // x + mean + s * a normal deviate, with s drawn from low to high
  };
  Kind kind = Kind::kClip;
  std::vector<float> low{0}, high{0};
  float mean = 0;
  bool by_channel = false;  // of kStandardize: of each place along the first axis by itself
  double p = 1;             // that it happens to a sample
  std::uint64_t stream = 0;

  bool draws() const { return kind == Kind::kFactor || kind == Kind::kNoise; }
};

/// What it is for one sample.
struct DrawnArrayStep {
  ArrayStep::Kind kind = ArrayStep::Kind::kClip;
  const ArrayStep* step = nullptr;  // of those that say it by channel
  float a = 0, b = 0;               // the bounds; the factor; the deviation and the mean of noise
  std::uint64_t key = 0;            // of noise
};

/// Of a sample those that happen to it.
void draw_array_steps(const std::vector<ArrayStep>& steps, const SampleDraw& draw, std::vector<DrawnArrayStep>& drawn);

}  // namespace stoker
