#include "stoker/plan/course_pixels.h"

#include <cassert>
#include <numeric>

#include "stoker/ops/picture/warp_meaning.h"

namespace stoker {

std::span<const std::int32_t> CoursePixels::find(const ImageCourse& course) {
  ImageSize size{course.map.width(), course.map.height()};
  from_.clear();
  for (const PictureStep& step : course.steps) {
    const bool warps = step.kind == PictureKind::kWarp || step.kind == PictureKind::kElastic;
    if (!warps && step.kind != PictureKind::kFrame) continue;
    if (from_.empty()) begin(size);
    if (step.kind == PictureKind::kFrame) frame(step, size);
    if (warps) warp(step, size, course.size);
    if (warps) size = course.size;
  }
  assert(size == course.size);
  return from_;
}

void CoursePixels::begin(ImageSize size) {
  from_.resize(pixels_of(size));
  std::iota(from_.begin(), from_.end(), 0);
}

void CoursePixels::warp(const PictureStep& step, ImageSize in, ImageSize out) {
  PicturePass pass{};
  pass.steps = &step;
  pass.count = 1;
  pass.width = out.width;
  pass.height = out.height;
  pass.in_width = in.width;
  pass.in_height = in.height;
  moved_.resize(pixels_of(out));
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x) {
      const WarpPlace place = step.kind == PictureKind::kElastic ? elastic_place(pass, x, y) : matrix_place(pass, x, y);
      const int from_x = (place.x + WarpPlace::kOne / 2) >> WarpPlace::kBits;
      const int from_y = (place.y + WarpPlace::kOne / 2) >> WarpPlace::kBits;
      const bool inside = from_x >= 0 && from_x < in.width && from_y >= 0 && from_y < in.height;
      moved_[index_of(out, x, y)] = inside ? from_[index_of(in, from_x, from_y)] : kNone;
    }
  }
  from_.swap(moved_);
}

void CoursePixels::frame(const PictureStep& step, ImageSize size) {
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      if (x < step.n[0] || y < step.n[1] || x >= step.n[2] || y >= step.n[3]) from_[index_of(size, x, y)] = kNone;
    }
  }
}

}  // namespace stoker
