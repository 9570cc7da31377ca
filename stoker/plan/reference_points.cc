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
std::optional<SeenPoint> just_before_warp(const PictureStep& step, SeenPoint point) {
  const std::array<double, 9> m = map_of(step).m;
  const double a = m[0] - point.x * m[6], b = m[1] - point.x * m[7], c = point.x * m[8] - m[2];
  const double d = m[3] - point.y * m[6], e = m[4] - point.y * m[7], f = point.y * m[8] - m[5];
  const double determinant = a * e - b * d;
  const SeenPoint found{(c * e - b * f) / determinant, (a * f - c * d) / determinant};
  return determinant != 0 ? std::optional(found) : std::nullopt;
}

std::optional<SeenPoint> before_warp(const PictureStep& step, SeenPoint point) {
  std::optional<SeenPoint> found = just_before_warp(step, point);
  if (found) found = {on_grid(found->x), on_grid(found->y)};
  return found;
}

bool is_ahead(const PictureStep& step, SeenPoint place) {
  const std::array<double, 9> m = map_of(step).m;
  return m[6] * place.x + m[7] * place.y + m[8] > 0;
}

}  // namespace stoker
