#include "stoker/ops/planar_grid.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace stoker {

PlanarGrid::PlanarGrid(const AxisMap& axis, int plane_factor, int plane_length, bool smooth)
    : origin(axis.clamp_begin),
      pixels(axis.clamp_end - axis.clamp_begin),
      factor(plane_factor),
      whole_length(plane_length),
      halved(smooth && plane_factor == 2) {
  assert(pixels > 0 && axis.target > 0 && axis.length >= 0 && factor > 0);
  assert((axis.clamp_end - 1) / factor < whole_length);
  const double box_end = axis.box_begin + axis.box_length;
  const bool whole =
      !axis.resampled || (axis.box_begin == std::floor(axis.box_begin) && box_end == std::floor(box_end));
  const std::int64_t fractions = whole ? 1 : kFractions;
  std::int64_t left = 0, right = pixels;
  if (axis.resampled) {
    const auto rounded = [&](double position) {
      return static_cast<std::int64_t>(std::floor(position * static_cast<double>(fractions) + 0.5));
    };
    left = std::clamp<std::int64_t>(rounded(axis.box_begin), 0, pixels * fractions - 1);
    right = std::clamp<std::int64_t>(rounded(box_end), left + 1, pixels * fractions);
  }
  if (axis.source_mirrored) {
    left = pixels * fractions - left;
    right = pixels * fractions - right;
    std::swap(left, right);
  }
  half_pixel = axis.target * fractions;
  half_column = right - left;
  support = 2 * std::max(half_pixel, half_column);
  begin = 2 * axis.target * left;

  const int shown_begin = axis.image_begin(), shown_end = axis.image_end();
  shown = shown_end - shown_begin;
  const int first_seen = axis.flip ? shown_end - 1 : shown_begin;  // of the shown columns, that of the first output
  first_shown = shown == 0  ? 0
                : axis.flip ? axis.window_begin + axis.length - shown_end
                            : shown_begin - axis.window_begin;
  first_column = axis.source_mirrored ? axis.target - 1 - first_seen : first_seen;
  column_step = axis.flip == axis.source_mirrored ? 1 : -1;
}

}  // namespace stoker
