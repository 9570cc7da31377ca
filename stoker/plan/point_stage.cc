#include "stoker/plan/point_stage.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "stoker/base/error.h"
#include "stoker/ops/picture/warp.h"

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
    // Beyond the horizon the image is shown mirrored, and there left and right would have other names.
    point.seen = to_output && divisor > 0;
    point.x = on_grid((m[0] * x + m[1] * y + m[2]) / divisor) + kHalfPixel;
    point.y = on_grid((m[3] * x + m[4] * y + m[5]) / divisor) + kHalfPixel;
  }
  clip(0, 0, out.width, out.height);
}

/// Of all pixels the one that shows the place nearest to the point is the one, and near it the field hardly changes.
void PointStage::follow_field(const PictureStep& step, ImageSize in, ImageSize out) {
  places_.find(step, in, out);
  for (Point& point : points_) {
    if (!point.seen) continue;
    double least = 1;  // in pixels, squared: what is farther away is not seen
    std::optional<std::size_t> nearest;
    Point moved{0, 0, false};
    const auto may_be_near = [&](const FieldPlaces::Square& square) {
      const double across = std::max({square.left - point.x, point.x - square.right, 0.0});
      const double down = std::max({square.top - point.y, point.y - square.bottom, 0.0});
      return across * across + down * down <= least;
    };
    places_.visit(may_be_near, [&](int x, int y, double from_x, double from_y) {
      const double across = point.x - from_x, down = point.y - from_y;
      const double distance = across * across + down * down;
      const std::size_t pixel = index_of(out, x, y);
      // Of several, the first one in the order of rows.
      if (!(distance < least || (nearest && distance == least && pixel < *nearest))) return;
      least = distance;
      nearest = pixel;
      moved = {x + kHalfPixel + across, y + kHalfPixel + down, true};
    });
    point = moved;
  }
  clip(0, 0, out.width, out.height);
}

}  // namespace stoker
