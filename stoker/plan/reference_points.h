// Where a place of the source is seen, as the reference executor finds it: from the ways back that the pixels take.
#pragma once

#include <optional>

#include "stoker/ops/picture/picture_step.h"
#include "stoker/ops/sampling_map.h"
#include "stoker/tensor/image.h"

namespace stoker {

/// From the upper left corner, unless something else is said.
struct SeenPoint {
  double x, y;
};

/// The output whose place in the source is this one, on the output or beyond it; from the left edge.
double output_of(const AxisMap& axis, double place);

/// The place that a warp's map takes to the point, both from the middle of the first pixel. None if there is none. The
/// second: rounded, as places are.
std::optional<SeenPoint> just_before_warp(const PictureStep& step, SeenPoint point);
std::optional<SeenPoint> before_warp(const PictureStep& step, SeenPoint point);

/// Whether that place is on the near side of the map's horizon.
bool is_ahead(const PictureStep& step, SeenPoint place);

}  // namespace stoker
