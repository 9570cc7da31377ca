// What warps do to pictures of numbers that must not be mixed: each pixel of the output shows the nearest one of the
// picture that the sampling map makes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stoker/plan/image_course.h"

namespace stoker {

/// Keeps scratch memory; one per thread.
class CoursePixels {
 public:
  static constexpr std::int32_t kNone = -1;

  /// By pixel of the output, row by row, which one of the picture it shows, kNone outside of it. Until the next call.
  /// Empty if no step of the course moves pixels: each shows its own.
  std::span<const std::int32_t> find(const ImageCourse& course);

 private:
  void begin(ImageSize size);
  void warp(const PictureStep& step, ImageSize in, ImageSize out);
  void frame(const PictureStep& step, ImageSize size);

  std::vector<std::int32_t> from_, moved_;
};

inline std::size_t pixels_of(ImageSize size) {
  return static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
}
inline std::size_t index_of(ImageSize size, int x, int y) {
  return static_cast<std::size_t>(y) * static_cast<std::size_t>(size.width) + static_cast<std::size_t>(x);
}

}  // namespace stoker
