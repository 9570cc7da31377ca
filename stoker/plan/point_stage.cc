#include "stoker/plan/point_stage.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "stoker/base/error.h"
#include "stoker/ops/picture/warp.h"
#include "stoker/plan/elastic_field.h"

namespace stoker {
namespace {

constexpr double kHalfPixel = 0.5;  // from a pixel's corner to its middle
constexpr std::size_t kNumbersOfPoint = 3;

}  // namespace

std::span<const double> points_of(const PointOptions& options, const ObjectDetails& object) {
  if (object.points.empty() || object.points.size() == options.count * kNumbersOfPoint) return object.points;
  fail(ErrorKind::kBadSample, "an object has {} numbers of keypoints, and {} points have {}", object.points.size(),
       options.count, options.count * kNumbersOfPoint);
}

bool mirrors(const ImageCourse& course) {
  bool mirrored = course.map.x.mirrored() != course.map.y.mirrored();
  for (const PictureStep& step : course.steps) {
    if (step.kind == PictureKind::kWarp && map_of(step).determinant() < 0) mirrored = !mirrored;
  }
  return mirrored;
}

void store_point(const PointOptions& options, double x, double y, double visibility, ImageSize size, float* out) {
  out[0] = static_cast<float>(options.fractions ? x / size.width : x - kHalfPixel);
  out[1] = static_cast<float>(options.fractions ? y / size.height : y - kHalfPixel);
  out[2] = static_cast<float>(std::min(visibility, 255.0));
}

void PointStage::write(const PointOptions& options, std::span<const LabeledBox> objects,
                       std::span<const ObjectDetails> details, const ImageCourse& course, float* out) {
  read(options, objects, details);
  show(course);
  ImageSize size{course.map.width(), course.map.height()};
  for (const PictureStep& step : course.steps) {
    if (step.kind == PictureKind::kFrame) clip(step.n[0], step.n[1], step.n[2], step.n[3]);
    if (step.kind == PictureKind::kWarp) warp(step, course.size);
    if (step.kind == PictureKind::kElastic) follow_field(step, size, course.size);
    if (step.kind == PictureKind::kWarp || step.kind == PictureKind::kElastic) size = course.size;
  }
  const bool mirrored = mirrors(course);
  std::fill_n(out, points_.size() * kNumbersOfPoint, 0.0F);
  for (std::size_t i = 0; i < points_.size(); ++i) {
    if (!points_[i].seen) continue;
    const std::size_t object = i / options.count, point = i % options.count;
    const double visibility = details[objects[object].number].points[point * kNumbersOfPoint + 2];
    const std::size_t to = object * options.count + (mirrored ? options.mirror[point] : point);
    store_point(options, points_[i].x, points_[i].y, visibility, course.size, out + to * kNumbersOfPoint);
  }
}

void PointStage::read(const PointOptions& options, std::span<const LabeledBox> objects,
                      std::span<const ObjectDetails> details) {
  points_.clear();
  for (const LabeledBox& object : objects) {
    const std::span<const double> numbers = points_of(options, details[object.number]);
    for (std::size_t i = 0; i < options.count * kNumbersOfPoint; i += kNumbersOfPoint) {
      if (numbers.empty()) {
        points_.push_back({});
      } else {
        points_.push_back({numbers[i] + kHalfPixel, numbers[i + 1] + kHalfPixel, numbers[i + 2] > 0});
      }
    }
  }
}

void PointStage::show(const ImageCourse& course) {
  for (Point& point : points_) {
    point.x = course.map.x.output_at(point.x);
    point.y = course.map.y.output_at(point.y);
  }
  clip(course.shown.left, course.shown.top, course.shown.right, course.shown.bottom);
}

void PointStage::clip(double left, double top, double right, double bottom) {
  for (Point& point : points_) {
    const bool inside = point.x >= left && point.x < right && point.y >= top && point.y < bottom;
    point.seen = point.seen && inside;
  }
}

void PointStage::warp(const PictureStep& step, ImageSize out) {
  const std::optional<PlaneMap> to_output = map_of(step).inverse();
  for (Point& point : points_) {
    if (!point.seen) continue;
    const std::array<double, 9> m = to_output.value_or(PlaneMap()).m;
    const double x = point.x - kHalfPixel, y = point.y - kHalfPixel;  // a map's (0, 0) is the middle of the first pixel
    const double divisor = m[6] * x + m[7] * y + m[8];
    point.seen = to_output && divisor > 0;
    point.x = on_grid((m[0] * x + m[1] * y + m[2]) / divisor) + kHalfPixel;
    point.y = on_grid((m[3] * x + m[4] * y + m[5]) / divisor) + kHalfPixel;
  }
  clip(0, 0, out.width, out.height);
}

/// Of all pixels the one that shows the place nearest to the point is the one, and near it the field hardly changes.
void PointStage::follow_field(const PictureStep& step, ImageSize in, ImageSize out) {
  moved_ = points_;
  distances_.assign(points_.size(), 1);  // in pixels, squared: what is farther away is not seen
  for (Point& point : moved_) point.seen = false;
  for_each_place(step, in, out, [&](int x, int y, double from_x, double from_y) {
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (!points_[i].seen) continue;
      const double across = points_[i].x - from_x, down = points_[i].y - from_y;
      const double distance = across * across + down * down;
      if (!(distance < distances_[i])) continue;
      distances_[i] = distance;
      moved_[i] = {x + kHalfPixel + across, y + kHalfPixel + down, true};
    }
  });
  points_.swap(moved_);
  clip(0, 0, out.width, out.height);
}

}  // namespace stoker
