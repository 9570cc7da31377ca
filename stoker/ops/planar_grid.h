// An axis of a sampling map in the integers of planar mode (docs/pixels.md): positions are counted from the left edge
// of what taps may reach, in a unit in which the edges and centres of pixels and of target columns are whole numbers.
#pragma once

#include <cstdint>

#include "stoker/ops/sampling_map.h"

namespace stoker {

struct PlanarGrid {
  /// Positions are rounded to this part of a pixel where they are not whole pixels.
  static constexpr int kFractions = 4096;

  PlanarGrid(const AxisMap& axis, int plane_factor, int plane_length, bool smooth);

  int origin, pixels;        // taps reach the pixels origin .. origin + pixels - 1 of the stored image
  int factor, whole_length;  // pixels per sample, and samples of the plane
  bool halved;               // a sample stands for two pixels, and what lies between samples is interpolated
  std::int64_t half_pixel;   // half the width of a pixel,
  std::int64_t half_column;  // of a column of the target,
  std::int64_t support;      // and of the bilinear filter
  std::int64_t begin;        // the target's left edge

  /// `column` counts as the image is stored.
  std::int64_t center_of_column(int column) const { return begin + (2 * std::int64_t{column} + 1) * half_column; }
  std::int64_t center_of_pixel(int pixel) const { return (2 * std::int64_t{pixel} + 1) * half_pixel; }

  /// Outputs first_shown .. first_shown + shown - 1 are not padding. They show neighbouring columns: the first shows
  /// `first_column`, the next ones column_step (1 or -1) further.
  int first_shown, shown;
  int first_column, column_step;
};

}  // namespace stoker
