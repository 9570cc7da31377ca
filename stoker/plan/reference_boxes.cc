#include "stoker/plan/reference_boxes.h"

#include <algorithm>
#include <optional>

#include "stoker/base/error.h"
#include "stoker/ops/picture/warp_meaning.h"
#include "stoker/plan/reference_points.h"

namespace stoker {
namespace {

constexpr double kToMiddle = 0.5;  // from a pixel's corner

/// What was seen of a box so far.
struct BoxOnItsWay {
  std::vector<SeenPoint> corners;  // of which the box goes around; none where nothing is seen
  double visible = 1;              // share of its area

  double left() const { return least(&SeenPoint::x); }
  double top() const { return least(&SeenPoint::y); }
  double right() const { return largest(&SeenPoint::x); }
  double bottom() const { return largest(&SeenPoint::y); }
  double area() const { return corners.empty() ? 0 : (right() - left()) * (bottom() - top()); }

  void become(double left, double top, double right, double bottom) {
    corners = {{left, top}, {right, top}, {left, bottom}, {right, bottom}};
  }

  void cut(double begin_x, double begin_y, double end_x, double end_y, bool by_middle) {
    if (!(area() > 0)) return corners.clear();
    const double x = (left() + right()) / 2, y = (top() + bottom()) / 2;
    if (by_middle && (x < begin_x || x >= end_x || y < begin_y || y >= end_y)) return corners.clear();
    const double before = area();
    become(left(), top(), right(), bottom());
    for (SeenPoint& corner : corners) {
      corner.x = std::clamp(corner.x, begin_x, end_x);
      corner.y = std::clamp(corner.y, begin_y, end_y);
    }
    visible *= area() / before;
    if (!(area() > 0)) corners.clear();
  }

 private:
  double least(double SeenPoint::*side) const {
    double found = corners.front().*side;
    for (const SeenPoint& corner : corners) found = std::min(found, corner.*side);
    return found;
  }
  double largest(double SeenPoint::*side) const {
    double found = corners.front().*side;
    for (const SeenPoint& corner : corners) found = std::max(found, corner.*side);
    return found;
  }
};

void warp_corners(const PictureStep& step, BoxOnItsWay& box) {
  std::vector<SeenPoint> moved;
  if (!box.corners.empty()) box.become(box.left(), box.top(), box.right(), box.bottom());
  for (const SeenPoint& corner : box.corners) {
    const std::optional<SeenPoint> at = before_warp(step, {corner.x - kToMiddle, corner.y - kToMiddle});
    if (at) moved.push_back({at->x + kToMiddle, at->y + kToMiddle});
  }
  box.corners = moved;
}

/// The corners of all pixels that show a place in the box.
void follow_places(const PictureStep& step, ImageSize in, ImageSize out, BoxOnItsWay& box) {
  PicturePass pass{};
  pass.steps = &step;
  pass.in_width = in.width;
  pass.in_height = in.height;
  std::vector<SeenPoint> found;
  for (int y = 0; y < out.height && !box.corners.empty(); ++y) {
    for (int x = 0; x < out.width; ++x) {
      const WarpPlace place = elastic_place(pass, x, y);
      const double across = static_cast<double>(place.x) / WarpPlace::kOne + kToMiddle;
      const double down = static_cast<double>(place.y) / WarpPlace::kOne + kToMiddle;
      if (across < box.left() || across >= box.right() || down < box.top() || down >= box.bottom()) continue;
      found.push_back({static_cast<double>(x), static_cast<double>(y)});
      found.push_back({x + 1.0, y + 1.0});
    }
  }
  box.corners = found;
}

BoxOnItsWay way_of(const LabeledBox& box, const ImageCourse& course, bool by_middle) {
  const AxisMap &x = course.map.x, &y = course.map.y;
  BoxOnItsWay way;
  way.become(output_of(x, box.left), output_of(y, box.top), output_of(x, box.right), output_of(y, box.bottom));
  way.cut(course.shown.left, course.shown.top, course.shown.right, course.shown.bottom, by_middle);
  ImageSize size{course.map.width(), course.map.height()};
  for (const PictureStep& step : course.steps) {
    if (step.kind == PictureKind::kFrame) {
      way.cut(step.n[0], step.n[1], step.n[2], step.n[3], by_middle);
    } else if (step.kind == PictureKind::kWarp) {
      size = course.size;
      warp_corners(step, way);
      way.cut(0, 0, size.width, size.height, by_middle);
    } else if (step.kind == PictureKind::kElastic) {
      follow_places(step, size, course.size, way);
      size = course.size;
    }
  }
  return way;
}

}  // namespace

std::vector<LabeledBox> reference_boxes(const BoxOptions& options, Bytes text, const ImageCourse& course,
                                        std::vector<ObjectDetails>& details) {
  std::vector<LabeledBox> boxes, kept;
  read_boxes(options, text, course.image, boxes, options.with_details ? &details : nullptr);
  for (LabeledBox box : boxes) {
    const BoxOnItsWay way = way_of(box, course, options.middle_seen);
    if (!(way.area() > 0) || way.visible < options.visible_min) continue;
    box.left = way.left();
    box.top = way.top();
    box.right = way.right();
    box.bottom = way.bottom();
    if (box.has_area() && box.width() >= options.size_min && box.height() >= options.size_min) kept.push_back(box);
  }
  if (kept.size() > static_cast<std::size_t>(options.most)) {
    fail(ErrorKind::kBadSample, "it has {} boxes, and there is room for {}: use a larger most", kept.size(),
         options.most);
  }
  return kept;
}

}  // namespace stoker
