// What is erased from one finished tensor, as plain data that host and device read: a list of steps, drawn from a
// view's operators. Where several erase an element, the last one counts.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "stoker/base/host_device.h"
#include "stoker/ops/picture/pixel_noise.h"

namespace stoker {

/// Squares that repeat along two axes at right angles, in units of 2^-16 pixel.
struct EraseGrid {
  static constexpr int kUnitBits = 16;

  std::int64_t period;            // from one square to the next; 0: there is no grid, and the whole box is erased
  std::int64_t side;              // of a square
  std::int64_t begin_u, begin_v;  // the place of pixel (0, 0) along either axis
  std::int32_t cosine, sine;      // of the angle by which the axes are turned

  STOKER_HOST_DEVICE std::int64_t u(int x, int y) const {
    return begin_u + std::int64_t{x} * cosine + std::int64_t{y} * sine;
  }
  STOKER_HOST_DEVICE std::int64_t v(int x, int y) const {
    return begin_v - std::int64_t{x} * sine + std::int64_t{y} * cosine;
  }
  STOKER_HOST_DEVICE std::int64_t within_period(std::int64_t place) const { return (place % period + period) % period; }
};

struct EraseStep {
  std::int32_t x, y, width, height;  // the box; at least one pixel
  EraseGrid grid;
  float value[3];     // by output channel, unless
  bool noise;         // normal deviates are written,
  std::uint64_t key;  // by this key and the element's place in the box

  STOKER_HOST_DEVICE bool erases(int pixel_x, int pixel_y) const {
    if (pixel_x < x || pixel_y < y || pixel_x >= x + width || pixel_y >= y + height) return false;
    return grid.period == 0 || (grid.within_period(grid.u(pixel_x, pixel_y)) < grid.side &&
                                grid.within_period(grid.v(pixel_x, pixel_y)) < grid.side);
  }
  /// What it writes to an element that it erases.
  STOKER_HOST_DEVICE float value_at(int pixel_x, int pixel_y, int channel) const {
    if (!noise) return value[channel];
    return PixelNoise::normal(key, (std::int64_t{channel} * height + pixel_y - y) * width + pixel_x - x);
  }
};

/// The most steps that the operators of a view may draw together.
constexpr int kEraseStepsMax = 64;

/// The steps of one tensor. It holds all of them by itself: drawing allocates nothing.
class EraseSteps {
 public:
  void clear() { count_ = 0; }
  /// A step of zeros. Operators add no more than steps_max() says.
  EraseStep& add() {
    assert(count_ < kEraseStepsMax);
    EraseStep& step = steps_[static_cast<std::size_t>(count_++)];
    step = {};
    return step;
  }
  std::span<const EraseStep> all() const { return {steps_.data(), static_cast<std::size_t>(count_)}; }

 private:
  std::array<EraseStep, kEraseStepsMax> steps_;
  int count_ = 0;
};

}  // namespace stoker
