// perspective and random_perspective: four points of the picture are moved to four others.
#include "stoker/ops/picture/picture_makers.h"
#include "stoker/ops/picture/warp.h"

namespace stoker {
namespace {

using Points = std::array<PlanePoint, 4>;

// torchvision's convention: the last pixel is at size - 1 here, though points count from the first pixel's corner.
Points corners(ImageSize size) {
  const double right = size.width - 1, bottom = size.height - 1;
  return {{{0, 0}, {right, 0}, {right, bottom}, {0, bottom}}};
}

Points points_argument(const std::vector<double>& numbers) {
  Points points;
  for (std::size_t i = 0; i < points.size(); ++i) points[i] = {numbers[2 * i], numbers[2 * i + 1]};
  return points;
}

// Of points of which three lie on a line, there is no such map: the picture stays as it is.
void move_points(const Points& from, const Points& to, const WarpLook& look, PictureSteps& steps) {
  const std::optional<PlaneMap> source = PlaneMap::of_points(to, from);
  if (!source) return;
  add_warp(PlaneMap::translation(-0.5, -0.5).after(*source).after(PlaneMap::translation(0.5, 0.5)), look, steps);
}

class Perspective final : public WarpOperator {
 public:
  explicit Perspective(const OperatorCall& call) : to_(points_argument(call.numbers("endpoints"))), look_(call) {
    const std::vector<double>& from = call.numbers("startpoints");
    if (!from.empty()) from_ = points_argument(from);
  }

  void draw(Random&, ImageSize size, PictureSteps& steps) const override {
    move_points(from_ ? *from_ : corners(size), to_, look_, steps);
  }

 private:
  std::optional<Points> from_;
  Points to_;
  WarpLook look_;
};

class RandomPerspective final : public WarpOperator {
 public:
  explicit RandomPerspective(const OperatorCall& call)
      : distortion_(call.number("distortion_scale")), p_(call.number("p")), look_(call) {}

  // The distribution is torchvision's.
  void draw(Random& random, ImageSize size, PictureSteps& steps) const override {
    if (!(random.uniform() < p_)) return;
    const Points from = corners(size);
    Points to = from;
    for (std::size_t i = 0; i < to.size(); ++i) {
      const double inward_x = draw_way(random, size.width), inward_y = draw_way(random, size.height);
      to[i].x += i == 0 || i == 3 ? inward_x : -inward_x;
      to[i].y += i < 2 ? inward_y : -inward_y;
    }
    move_points(from, to, look_, steps);
  }

 private:
  double draw_way(Random& random, int side) const {
    const int half = side / 2;
    const auto most = static_cast<std::uint64_t>(distortion_ * half);
    return static_cast<double>(random.below(most + 1));
  }

  double distortion_, p_;
  WarpLook look_;
};

}  // namespace

std::unique_ptr<PictureOperator> make_perspective(const OperatorCall& call) {
  return std::make_unique<Perspective>(call);
}
std::unique_ptr<PictureOperator> make_random_perspective(const OperatorCall& call) {
  return std::make_unique<RandomPerspective>(call);
}

}  // namespace stoker
