#include "stoker/plan/box_stage.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "stoker/base/error.h"
#include "stoker/ops/picture/warp.h"
#include "stoker/plan/course_pixels.h"
#include "stoker/plan/elastic_field.h"

namespace stoker {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// A box that holds nothing yet.
LabeledBox nothing_of(const LabeledBox& box) {
  LabeledBox none = box;
  none.left = none.top = kInfinite;
  none.right = none.bottom = -kInfinite;
  return none;
}

void take_in(LabeledBox& box, double left, double top, double right, double bottom) {
  box.left = std::min(box.left, left);
  box.top = std::min(box.top, top);
  box.right = std::max(box.right, right);
  box.bottom = std::max(box.bottom, bottom);
}

bool is_empty(const LabeledBox& box) { return !(box.width() > 0) || !(box.height() > 0); }

bool is_large_enough(const BoxOptions& options, const LabeledBox& box) {
  return box.has_area() && box.width() >= options.size_min && box.height() >= options.size_min;
}

bool has_middle_in(const LabeledBox& box, double left, double top, double right, double bottom) {
  const double x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
  return x >= left && x < right && y >= top && y < bottom;
}

/// The smallest box that holds the corners, seen through the map. Of a corner behind the eye nothing is seen.
LabeledBox moved(const LabeledBox& box, const PlaneMap& to_output) {
  constexpr double kHalf = 0.5;  // a map's (0, 0) is the middle of the first pixel
  LabeledBox result = nothing_of(box);
  for (const double x : {box.left - kHalf, box.right - kHalf}) {
    for (const double y : {box.top - kHalf, box.bottom - kHalf}) {
      const std::array<double, 9>& m = to_output.m;
      const double divisor = m[6] * x + m[7] * y + m[8];
      if (divisor <= 0) continue;
      const double at_x = on_grid((m[0] * x + m[1] * y + m[2]) / divisor) + kHalf;
      const double at_y = on_grid((m[3] * x + m[4] * y + m[5]) / divisor) + kHalf;
      take_in(result, at_x, at_y, at_x, at_y);
    }
  }
  return result;
}

}  // namespace

const std::vector<LabeledBox>& BoxStage::run(const BoxOptions& options, Bytes text, const ImageCourse& course) {
  middle_seen_ = options.middle_seen;
  read_boxes(options, text, course.image, boxes_, options.with_details ? &details_ : nullptr);
  courses_.clear();
  for (const LabeledBox& box : boxes_) courses_.push_back({box});
  show(course);
  ImageSize size{course.map.width(), course.map.height()};
  for (const PictureStep& step : course.steps) {
    if (step.kind == PictureKind::kFrame) clip(step.n[0], step.n[1], step.n[2], step.n[3]);
    if (step.kind == PictureKind::kWarp) warp(step, course.size);
    if (step.kind == PictureKind::kElastic) follow_field(step, size, course.size);
    if (step.kind == PictureKind::kWarp || step.kind == PictureKind::kElastic) size = course.size;
  }
  boxes_.clear();
  for (const auto& [box, visible] : courses_) {
    if (is_large_enough(options, box) && visible >= options.visible_min) boxes_.push_back(box);
  }
  if (boxes_.size() > static_cast<std::size_t>(options.most)) {
    fail(ErrorKind::kBadSample, "it has {} boxes, and there is room for {}: use a larger most", boxes_.size(),
         options.most);
  }
  return boxes_;
}

void BoxStage::show(const ImageCourse& image) {
  const SamplingMap& map = image.map;
  for (Course& course : courses_) {
    LabeledBox shown = nothing_of(course.box);
    const double left = map.x.output_at(course.box.left), right = map.x.output_at(course.box.right);
    const double top = map.y.output_at(course.box.top), bottom = map.y.output_at(course.box.bottom);
    take_in(shown, std::min(left, right), std::min(top, bottom), std::max(left, right), std::max(top, bottom));
    course.box = shown;
  }
  clip(image.shown.left, image.shown.top, image.shown.right, image.shown.bottom);
}

void BoxStage::clip(double left, double top, double right, double bottom) {
  for (auto& [box, visible] : courses_) {
    if (is_empty(box)) continue;
    if (middle_seen_ && !has_middle_in(box, left, top, right, bottom)) {
      box = nothing_of(box);
      continue;
    }
    const double area = box.width() * box.height();
    box.left = std::max(box.left, left);
    box.top = std::max(box.top, top);
    box.right = std::min(box.right, right);
    box.bottom = std::min(box.bottom, bottom);
    visible *= is_empty(box) ? 0 : box.width() * box.height() / area;
  }
}

void BoxStage::warp(const PictureStep& step, ImageSize out) {
  const std::optional<PlaneMap> to_output = map_of(step).inverse();
  for (Course& course : courses_) {
    if (is_empty(course.box)) continue;
    course.box = to_output ? moved(course.box, *to_output) : nothing_of(course.box);
  }
  clip(0, 0, out.width, out.height);
}

/// The pixels of the output that show a pixel of the box.
void BoxStage::follow_field(const PictureStep& step, ImageSize in, ImageSize out) {
  constexpr std::size_t kLooksMax = std::size_t{1} << 32;  // each pixel is looked for in each box
  struct Followed {
    LabeledBox box, found;
    std::size_t number;  // of the course
  };
  std::vector<Followed> boxes;
  for (std::size_t i = 0; i < courses_.size(); ++i) {
    const LabeledBox& box = courses_[i].box;
    if (!is_empty(box)) boxes.push_back({box, nothing_of(box), i});
  }
  if (boxes.size() > kLooksMax / pixels_of(out)) {
    fail(ErrorKind::kBadSample, "it has {} boxes, too many to follow an elastic field of {} x {} pixels", boxes.size(),
         out.width, out.height);
  }
  for_each_place(step, in, out, [&](int x, int y, double from_x, double from_y) {
    for (Followed& one : boxes) {
      const LabeledBox& box = one.box;
      const bool shows = from_x >= box.left && from_x < box.right && from_y >= box.top && from_y < box.bottom;
      if (shows) take_in(one.found, x, y, x + 1, y + 1);
    }
  });
  for (const Followed& one : boxes) courses_[one.number].box = one.found;
}

bool is_kept(const BoxOptions& options, const LabeledBox& seen, const LabeledBox& whole) {
  if (!is_large_enough(options, seen)) return false;
  if (options.middle_seen && !has_middle_in(whole, seen.left, seen.top, seen.right, seen.bottom)) return false;
  return seen.width() * seen.height() >= options.visible_min * whole.width() * whole.height();
}

void store_box(const BoxOptions& options, const LabeledBox& box, ImageSize size, float* out) {
  std::array<double, 4> numbers{};
  switch (options.form) {
    case BoxOptions::Form::kCorners: numbers = {box.left, box.top, box.right, box.bottom}; break;
    case BoxOptions::Form::kCornerAndSize: numbers = {box.left, box.top, box.width(), box.height()}; break;
    case BoxOptions::Form::kMiddleAndSize:
      numbers = {(box.left + box.right) / 2, (box.top + box.bottom) / 2, box.width(), box.height()};
      break;
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double unit = options.fractions ? (i % 2 == 0 ? size.width : size.height) : 1.0;
    out[i] = static_cast<float>(numbers[i] / unit);
  }
}

LabeledBox load_box(const BoxOptions& options, ImageSize size, const float* numbers) {
  const double across = options.fractions ? size.width : 1, down = options.fractions ? size.height : 1;
  const double x = numbers[0] * across, y = numbers[1] * down, width = numbers[2] * across, height = numbers[3] * down;
  switch (options.form) {
    case BoxOptions::Form::kCorners: return {x, y, width, height};
    case BoxOptions::Form::kCornerAndSize: return {x, y, x + width, y + height};
    case BoxOptions::Form::kMiddleAndSize: break;
  }
  return {x - width / 2, y - height / 2, x + width / 2, y + height / 2};
}

}  // namespace stoker
