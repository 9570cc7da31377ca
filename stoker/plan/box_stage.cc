#include "stoker/plan/box_stage.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "stoker/base/error.h"
#include "stoker/ops/picture/warp.h"

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

/// A box without area.
LabeledBox middle_of(const LabeledBox& box) {
  LabeledBox middle = box;
  middle.left = middle.right = (box.left + box.right) / 2;
  middle.top = middle.bottom = (box.top + box.bottom) / 2;
  return middle;
}

bool has_middle_in(const LabeledBox& box, double left, double top, double right, double bottom) {
  const double x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
  return x >= left && x < right && y >= top && y < bottom;
}

constexpr double kToCorner = 0.5;  // a map's (0, 0) is the middle of the first pixel

/// A part of a box, from the middle of the first pixel. Its corners are what the cuts leave of four.
struct BoxPart {
  std::array<PlanePoint, 20> corners{};  // eight in fact; by rounding, half as many more come with each of four cuts
  std::size_t count = 0;

  explicit BoxPart(const LabeledBox& box) {
    add({box.left - kToCorner, box.top - kToCorner});
    add({box.right - kToCorner, box.top - kToCorner});
    add({box.right - kToCorner, box.bottom - kToCorner});
    add({box.left - kToCorner, box.bottom - kToCorner});
  }
  void add(PlanePoint corner) { corners[count++] = corner; }

  /// Keeps what lies where a x + b y + c is not negative.
  void cut(double a, double b, double c) {
    const BoxPart before = *this;
    count = 0;
    for (std::size_t i = 0; i < before.count; ++i) {
      const PlanePoint p = before.corners[i], q = before.corners[(i + 1) % before.count];
      const double at_p = a * p.x + b * p.y + c, at_q = a * q.x + b * q.y + c;
      if (at_p >= 0) add(p);
      if ((at_p < 0) == (at_q < 0)) continue;
      const double way = at_p / (at_p - at_q);
      add({p.x + way * (q.x - p.x), p.y + way * (q.y - p.y)});
    }
  }

  double area() const {
    double twice = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const PlanePoint p = corners[i], q = corners[(i + 1) % count];
      twice += p.x * q.y - q.x * p.y;
    }
    return twice / 2;
  }
};

double divisor_at(const PlaneMap& map, PlanePoint p) { return map.m[6] * p.x + map.m[7] * p.y + map.m[8]; }

void take_in(LabeledBox& box, const PlaneMap& to_output, PlanePoint p) {
  const std::array<double, 9>& m = to_output.m;
  const double divisor = divisor_at(to_output, p);
  const double at_x = on_grid((m[0] * p.x + m[1] * p.y + m[2]) / divisor) + kToCorner;
  const double at_y = on_grid((m[3] * p.x + m[4] * p.y + m[5]) / divisor) + kToCorner;
  take_in(box, at_x, at_y, at_x, at_y);
}

/// Whether the horizon lies in the box: its map goes to infinity there, and comes back from the other side.
bool has_horizon(const LabeledBox& box, const PlaneMap& to_output) {
  const BoxPart whole(box);
  const auto ahead = std::count_if(whole.corners.begin(), whole.corners.begin() + 4,
                                   [&](PlanePoint corner) { return divisor_at(to_output, corner) > 0; });
  return ahead != 0 && ahead != 4;
}

/// The smallest box that holds the corners, seen through the map.
LabeledBox moved(const LabeledBox& box, const PlaneMap& to_output) {
  LabeledBox result = nothing_of(box);
  const BoxPart whole(box);
  for (std::size_t i = 0; i < whole.count; ++i) take_in(result, to_output, whole.corners[i]);
  return result;
}

/// What an output of this size shows of a box with the horizon in it, on either side of this: as the image, which knows
/// of no horizon. `share` is that of the box's area.
LabeledBox shown_around_horizon(const LabeledBox& box, const PlaneMap& to_output, ImageSize out, double& share) {
  const std::array<double, 9>& m = to_output.m;
  LabeledBox result = nothing_of(box);
  share = 0;
  for (const double side : {1.0, -1.0}) {  // where the divisor has this sign, x >= 0 is X >= 0 with this sign
    BoxPart part(box);
    const auto cut = [&](std::size_t row, double sign, double of_divisor) {
      const auto at = [&](std::size_t i) { return side * (sign * m[row + i] + of_divisor * m[6 + i]); };
      part.cut(at(0), at(1), at(2));
    };
    cut(0, 1, kToCorner);
    cut(0, -1, out.width - kToCorner);
    cut(3, 1, kToCorner);
    cut(3, -1, out.height - kToCorner);
    for (std::size_t i = 0; i < part.count; ++i) take_in(result, to_output, part.corners[i]);
    share += part.area() / (box.width() * box.height());
  }
  return result;
}

}  // namespace

const std::vector<LabeledBox>& BoxStage::run(const BoxOptions& options, Bytes text, const ImageCourse& course) {
  middle_seen_ = options.middle_seen;
  visible_min_ = options.visible_min;
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
  for (auto& [box, visible] : courses_) {
    if (is_empty(box)) continue;
    const bool around_horizon = to_output && has_horizon(box, *to_output);
    const bool must_show_middle = around_horizon && middle_seen_;
    if (!to_output ||
        (must_show_middle && !has_middle_in(moved(middle_of(box), *to_output), 0, 0, out.width, out.height))) {
      box = nothing_of(box);
    } else if (!around_horizon) {
      box = moved(box, *to_output);
    } else {
      double share = 0;
      box = shown_around_horizon(box, *to_output, out, share);
      visible *= share;
    }
  }
  clip(0, 0, out.width, out.height);
}

/// The pixels of the output that show a pixel of the box.
void BoxStage::follow_field(const PictureStep& step, ImageSize in, ImageSize out) {
  constexpr std::ptrdiff_t kFollowedMax = 65'536;
  const auto is_followed = [&](const Course& course) {
    return !is_empty(course.box) && course.visible >= visible_min_;  // else it is left out in the end
  };
  if (const auto count = std::count_if(courses_.begin(), courses_.end(), is_followed); count > kFollowedMax) {
    fail(ErrorKind::kBadSample, "it has {} boxes, too many to follow an elastic field: the limit is {}", count,
         kFollowedMax);
  }
  places_.find(step, in, out);
  for (Course& course : courses_) {
    if (!is_followed(course)) continue;
    const LabeledBox box = course.box;
    LabeledBox found = nothing_of(box);
    const auto may_add = [&](const FieldPlaces::Square& square) {
      const bool apart =
          square.right < box.left || square.left >= box.right || square.bottom < box.top || square.top >= box.bottom;
      const bool is_found = square.begin_x >= found.left && square.end_x <= found.right &&
                            square.begin_y >= found.top && square.end_y <= found.bottom;
      if (apart || is_found) return false;
      const bool inside =
          square.left >= box.left && square.right < box.right && square.top >= box.top && square.bottom < box.bottom;
      if (inside) take_in(found, square.begin_x, square.begin_y, square.end_x, square.end_y);
      return !inside;
    };
    places_.visit(may_add, [&](int x, int y, double from_x, double from_y) {
      const bool shows = from_x >= box.left && from_x < box.right && from_y >= box.top && from_y < box.bottom;
      if (shows) take_in(found, x, y, x + 1, y + 1);
    });
    course.box = found;
  }
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
