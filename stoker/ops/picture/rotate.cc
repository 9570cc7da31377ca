// rotate and random_rotation: turned around a point, in the size that the picture has.
#include "stoker/ops/picture/drawn_number.h"
#include "stoker/ops/picture/picture_makers.h"
#include "stoker/ops/picture/warp.h"

namespace stoker {
namespace {

class Rotate final : public WarpOperator {
 public:
  Rotate(const OperatorCall& call, DrawnNumber degrees)
      : degrees_(degrees), center_(center_argument(call)), look_(call) {}

  void draw(Random& random, ImageSize size, PictureSteps& steps) const override {
    // As in torchvision, rotations are anticlockwise, though the angle of an affine warp is clockwise.
    add_warp(AffineChange{.angle = -degrees_.draw(random), .center = center_}.source(size), look_, steps);
  }

 private:
  DrawnNumber degrees_;
  std::optional<PlanePoint> center_;
  WarpLook look_;
};

}  // namespace

std::unique_ptr<PictureOperator> make_rotate(const OperatorCall& call) {
  return std::make_unique<Rotate>(call, DrawnNumber(call, "degrees"));
}

std::unique_ptr<PictureOperator> make_random_rotation(const OperatorCall& call) {
  return std::make_unique<Rotate>(call, DrawnNumber::symmetric(call, "degrees"));
}

}  // namespace stoker
