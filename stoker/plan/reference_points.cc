#include "stoker/plan/reference_points.h"

#include <array>

#include "stoker/ops/picture/warp.h"

namespace stoker {

// Places are found the other way round.
double output_of(const AxisMap& axis, double place) {
  const auto source_at = [&](double output) {
    const double column = axis.window_begin + (axis.flip ? axis.length - output : output);
    const double read = axis.resampled ? axis.box_begin + column * axis.box_length / axis.target : column;
    return axis.source_mirrored ? axis.clamp_end - read : axis.clamp_begin + read;
  };
  return on_grid((place - source_at(0)) / (source_at(1) - source_at(0)));
}

// Cramer's rule.
std::optional<SeenPoint> before_warp(const PictureStep& step, SeenPoint point) {
  const std::array<double, 9> m = map_of(step).m;
  const double a = m[0] - point.x * m[6], b = m[1] - point.x * m[7], c = point.x * m[8] - m[2];
  const double d = m[3] - point.y * m[6], e = m[4] - point.y * m[7], f = point.y * m[8] - m[5];
  const double determinant = a * e - b * d;
  const SeenPoint found{on_grid((c * e - b * f) / determinant), on_grid((a * f - c * d) / determinant)};
  const bool ahead = m[6] * found.x + m[7] * found.y + m[8] > 0;
  return determinant != 0 && ahead ? std::optional(found) : std::nullopt;
}

}  // namespace stoker
