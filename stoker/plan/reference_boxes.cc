#include "stoker/plan/reference_boxes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "stoker/base/error.h"
#include "stoker/ops/picture/warp.h"
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

/// A corner of what the output shows of a box: where, and of what place. Both from the middle of the first pixel.
struct ShownCorner {
  SeenPoint output, source;
};

/// Those of the output, those of the box, and where the sides of both cross: of these the ones that lie in both.
std::vector<ShownCorner> corners_shown(const PictureStep& step, const BoxOnItsWay& box, ImageSize out) {
  constexpr double kNear = 1e-6;
  const std::array<double, 9> m = map_of(step).m;
  const double columns[] = {-kToMiddle, out.width - kToMiddle}, rows[] = {-kToMiddle, out.height - kToMiddle};
  const double sides[] = {box.left() - kToMiddle, box.right() - kToMiddle, box.top() - kToMiddle,
                          box.bottom() - kToMiddle};
  std::vector<ShownCorner> shown;
  const auto lies_in = [&](double at, const double* range) { return at >= range[0] - kNear && at <= range[1] + kNear; };
  const auto add = [&](SeenPoint p) {
    const double divisor = m[6] * p.x + m[7] * p.y + m[8];
    const SeenPoint from{(m[0] * p.x + m[1] * p.y + m[2]) / divisor, (m[3] * p.x + m[4] * p.y + m[5]) / divisor};
    const bool is_seen =
        lies_in(p.x, columns) && lies_in(p.y, rows) && lies_in(from.x, sides) && lies_in(from.y, sides + 2);
    if (is_seen) shown.push_back({p, from});
  };
  for (int i = 0; i < 4; ++i) {
    add({columns[i / 2], rows[i % 2]});
    if (const auto corner = just_before_warp(step, {sides[i / 2], sides[2 + i % 2]})) add(*corner);
  }
  for (int i = 0; i < 4; ++i) {
    const int row = i < 2 ? 0 : 3;
    const double side = sides[i], a = m[row] - side * m[6], b = m[row + 1] - side * m[7], c = m[row + 2] - side * m[8];
    for (const double x : columns) add({x, -(a * x + c) / b});
    for (const double y : rows) add({-(b * y + c) / a, y});
  }
  return shown;
}

/// Of the places around which the corners go.
double area_within(std::vector<SeenPoint> corners) {
  SeenPoint middle{0, 0};
  for (const SeenPoint& corner : corners) {
    middle.x += corner.x / static_cast<double>(corners.size());
    middle.y += corner.y / static_cast<double>(corners.size());
  }
  const auto turn = [&](const SeenPoint& p) {  // grows with the angle around the middle
    const double x = p.x - middle.x, y = p.y - middle.y;
    const double part = x / std::max(std::abs(x) + std::abs(y), 1e-300);
    return y < 0 ? part - 1 : 1 - part;
  };
  std::sort(corners.begin(), corners.end(), [&](const auto& p, const auto& q) { return turn(p) < turn(q); });
  double twice = 0;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const SeenPoint p = corners[i], q = corners[(i + 1) % corners.size()];
    twice += (p.x - middle.x) * (q.y - middle.y) - (q.x - middle.x) * (p.y - middle.y);
  }
  return twice / 2;
}

/// Of a box with the map's horizon in it, what is seen on either side.
void warp_around_horizon(const PictureStep& step, ImageSize out, bool by_middle, BoxOnItsWay& box) {
  const auto middle =
      before_warp(step, {(box.left() + box.right()) / 2 - kToMiddle, (box.top() + box.bottom()) / 2 - kToMiddle});
  const bool middle_is_seen = middle && middle->x >= -kToMiddle && middle->x < out.width - kToMiddle &&
                              middle->y >= -kToMiddle && middle->y < out.height - kToMiddle;
  if (by_middle && !middle_is_seen) return box.corners.clear();
  std::vector<SeenPoint> seen, sources[2];
  for (const ShownCorner& corner : corners_shown(step, box, out)) {
    seen.push_back({on_grid(corner.output.x) + kToMiddle, on_grid(corner.output.y) + kToMiddle});
    sources[is_ahead(step, corner.output)].push_back(corner.source);
  }
  box.visible *= (area_within(sources[0]) + area_within(sources[1])) / box.area();
  box.corners = seen;
}

void warp_corners(const PictureStep& step, ImageSize out, bool by_middle, BoxOnItsWay& box) {
  if (box.corners.empty()) return;
  box.become(box.left(), box.top(), box.right(), box.bottom());
  std::vector<SeenPoint> moved;
  std::size_t ahead = 0;
  for (const SeenPoint& corner : box.corners) {
    const std::optional<SeenPoint> at = before_warp(step, {corner.x - kToMiddle, corner.y - kToMiddle});
    if (!at) continue;
    ahead += is_ahead(step, *at) ? 1 : 0;
    moved.push_back({at->x + kToMiddle, at->y + kToMiddle});
  }
  if (ahead > 0 && ahead < box.corners.size()) return warp_around_horizon(step, out, by_middle, box);
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
      warp_corners(step, size, by_middle, way);
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
