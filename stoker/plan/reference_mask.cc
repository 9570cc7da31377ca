#include "stoker/plan/reference_mask.h"

#include "stoker/ops/picture/warp_meaning.h"

namespace stoker {
namespace {

/// From the output back to the mask.
class Way {
 public:
  Way(const MaskOptions& options, const MaskPixels& mask, const ImageCourse& course)
      : options_(options), mask_(mask), course_(course) {
    build_taps(course.map.x, Filter::kNearest, columns_);
    build_taps(course.map.y, Filter::kNearest, rows_);
  }

  /// The class at a pixel of what the first `steps` of the image's steps have made.
  std::int64_t class_at(int x, int y, std::size_t steps) const {
    if (steps == 0)
      return sampled(columns_.first[static_cast<std::size_t>(x)], rows_.first[static_cast<std::size_t>(y)]);
    const PictureStep& step = course_.steps[steps - 1];
    switch (step.kind) {
      case PictureKind::kFrame: {
        const bool inside = x >= step.n[0] && y >= step.n[1] && x < step.n[2] && y < step.n[3];
        return inside ? class_at(x, y, steps - 1) : options_.fill;
      }
      case PictureKind::kWarp:
      case PictureKind::kElastic: return warped(step, x, y, steps);
      default: return class_at(x, y, steps - 1);
    }
  }

 private:
  std::int64_t sampled(int column, int row) const {
    if (column < 0 || row < 0) return options_.fill;
    if (mask_.bytes == 1) return options_.class_of(mask_.row<std::uint8_t>(row)[column]);
    if (mask_.bytes == 2) return options_.class_of(mask_.row<std::uint16_t>(row)[column]);
    return options_.class_of(mask_.row<std::uint32_t>(row)[column]);
  }

  std::int64_t warped(const PictureStep& step, int x, int y, std::size_t steps) const {
    const ImageSize in = size_after(steps - 1);
    PicturePass pass{};
    pass.steps = &step;
    pass.in_width = in.width;
    pass.in_height = in.height;
    const WarpPlace place = step.kind == PictureKind::kElastic ? elastic_place(pass, x, y) : matrix_place(pass, x, y);
    if (!within_pixels(place.x, in.width) || !within_pixels(place.y, in.height)) return options_.fill;
    return class_at((place.x + WarpPlace::kOne / 2) >> WarpPlace::kBits,
                    (place.y + WarpPlace::kOne / 2) >> WarpPlace::kBits, steps - 1);
  }

  /// Only warps make another size of what the map shows.
  ImageSize size_after(std::size_t steps) const {
    for (std::size_t i = 0; i < steps; ++i) {
      const PictureKind kind = course_.steps[i].kind;
      if (kind == PictureKind::kWarp || kind == PictureKind::kElastic) return course_.size;
    }
    return {course_.map.width(), course_.map.height()};
  }

  const MaskOptions& options_;
  const MaskPixels& mask_;
  const ImageCourse& course_;
  AxisTaps columns_, rows_;
};

}  // namespace

void reference_mask(const MaskOptions& options, Bytes encoded, const DecodeLimits& limits, const ImageCourse& course,
                    MutableBytes out) {
  MaskDecoder decoder(limits);
  const MaskPixels mask = decoder.decode(encoded, options.codes);
  require_size_of_image(mask, course.image);
  const Way way(options, mask, course);
  std::size_t pixel = 0;
  for (int y = 0; y < course.size.height; ++y) {
    for (int x = 0; x < course.size.width; ++x) {
      store_class(options, way.class_at(x, y, course.steps.size()), out, pixel++);
    }
  }
}

}  // namespace stoker
