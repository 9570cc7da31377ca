#include "stoker/plan/reference_way.h"

#include "stoker/ops/picture/warp_meaning.h"

namespace stoker {

ReferenceWay::ReferenceWay(const ImageCourse& course) : course_(course) {
  build_taps(course.map.x, Filter::kNearest, columns_);
  build_taps(course.map.y, Filter::kNearest, rows_);
}

/// From a pixel of what the first `steps` of the image's steps have made.
std::optional<SourcePixel> ReferenceWay::before(int x, int y, std::size_t steps) const {
  if (steps == 0) {
    const SourcePixel pixel{columns_.first[static_cast<std::size_t>(x)], rows_.first[static_cast<std::size_t>(y)]};
    return pixel.x < 0 || pixel.y < 0 ? std::nullopt : std::optional(pixel);
  }
  const PictureStep& step = course_.steps[steps - 1];
  switch (step.kind) {
    case PictureKind::kFrame: {
      const bool inside = x >= step.n[0] && y >= step.n[1] && x < step.n[2] && y < step.n[3];
      return inside ? before(x, y, steps - 1) : std::nullopt;
    }
    case PictureKind::kWarp:
    case PictureKind::kElastic: return before_warp(step, x, y, steps);
    default: return before(x, y, steps - 1);
  }
}

std::optional<SourcePixel> ReferenceWay::before_warp(const PictureStep& step, int x, int y, std::size_t steps) const {
  const ImageSize in = size_after(steps - 1);
  PicturePass pass{};
  pass.steps = &step;
  pass.in_width = in.width;
  pass.in_height = in.height;
  const WarpPlace place = step.kind == PictureKind::kElastic ? elastic_place(pass, x, y) : matrix_place(pass, x, y);
  if (!within_pixels(place.x, in.width) || !within_pixels(place.y, in.height)) return std::nullopt;
  return before((place.x + WarpPlace::kOne / 2) >> WarpPlace::kBits,
                (place.y + WarpPlace::kOne / 2) >> WarpPlace::kBits, steps - 1);
}

/// Only warps make another size of what the map shows.
ImageSize ReferenceWay::size_after(std::size_t steps) const {
  for (std::size_t i = 0; i < steps; ++i) {
    const PictureKind kind = course_.steps[i].kind;
    if (kind == PictureKind::kWarp || kind == PictureKind::kElastic) return course_.size;
  }
  return {course_.map.width(), course_.map.height()};
}

}  // namespace stoker
