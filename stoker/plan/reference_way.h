// The way from a pixel of the output back to the pixel of the source that it shows, by the nearest at every step.
#pragma once

#include <optional>

#include "stoker/ops/picture/picture_step.h"
#include "stoker/ops/taps.h"
#include "stoker/plan/image_course.h"

namespace stoker {

struct SourcePixel {
  int x, y;
};

/// The course must outlive it.
class ReferenceWay {
 public:
  explicit ReferenceWay(const ImageCourse& course);

  /// None where the output shows nothing of the source.
  std::optional<SourcePixel> source_of(int x, int y) const { return before(x, y, course_.steps.size()); }

 private:
  std::optional<SourcePixel> before(int x, int y, std::size_t steps) const;
  std::optional<SourcePixel> before_warp(const PictureStep& step, int x, int y, std::size_t steps) const;
  ImageSize size_after(std::size_t steps) const;

  const ImageCourse& course_;
  AxisTaps columns_, rows_;
};

}  // namespace stoker
