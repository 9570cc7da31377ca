// affine and random_affine; shear_x, shear_y, translate_x and translate_y, each of which is a part of one.
#include <cmath>

#include "stoker/base/error.h"
#include "stoker/ops/picture/drawn_number.h"
#include "stoker/ops/picture/picture_makers.h"
#include "stoker/ops/picture/warp.h"

namespace stoker {
namespace {

class AffineWarp final : public WarpOperator {
 public:
  explicit AffineWarp(const OperatorCall& call) : look_(call) {
    const std::vector<double>&translate = call.numbers("translate"), &shear = call.numbers("shear");
    change_ = {.angle = call.number("angle"),
               .translate_x = translate[0],
               .translate_y = translate[1],
               .scale = call.number("scale"),
               .shear_x = shear[0],
               .shear_y = shear.size() > 1 ? shear[1] : 0,
               .center = center_argument(call)};
  }

  void draw(Random&, ImageSize size, PictureSteps& steps) const override {
    add_warp(change_.source(size), look_, steps);
  }

 private:
  AffineChange change_;
  WarpLook look_;
};

class RandomAffine final : public WarpOperator {
 public:
  explicit RandomAffine(const OperatorCall& call)
      : degrees_(DrawnNumber::symmetric(call, "degrees")),
        translate_{call.numbers("translate")[0], call.numbers("translate")[1]},
        scale_(call, "scale"),
        shear_x_(0, 0),
        shear_y_(0, 0),
        center_(center_argument(call)),
        look_(call) {
    const std::vector<double>& shear = call.numbers("shear");
    if (shear.size() < 4) {
      shear_x_ = DrawnNumber::symmetric(call, "shear");
      return;
    }
    if (shear[0] > shear[1] || shear[2] > shear[3]) {
      fail(ErrorKind::kUsage, "shear must be given as [least of x, largest of x, least of y, largest of y]");
    }
    shear_x_ = DrawnNumber(shear[0], shear[1]);
    shear_y_ = DrawnNumber(shear[2], shear[3]);
  }

  void draw(Random& random, ImageSize size, PictureSteps& steps) const override {
    AffineChange change;
    change.angle = degrees_.draw(random);
    change.translate_x = draw_translation(random, translate_[0] * size.width);
    change.translate_y = draw_translation(random, translate_[1] * size.height);
    change.scale = scale_.draw(random);
    change.shear_x = shear_x_.draw(random);
    change.shear_y = shear_y_.draw(random);
    change.center = center_;
    add_warp(change.source(size), look_, steps);
  }

 private:
  // Whole pixels, as torchvision draws them.
  static double draw_translation(Random& random, double most) {
    return std::nearbyint(DrawnNumber(-most, most).draw(random));
  }

  DrawnNumber degrees_;
  double translate_[2];
  DrawnNumber scale_, shear_x_, shear_y_;
  std::optional<PlanePoint> center_;
  WarpLook look_;
};

enum class WarpAxis : std::uint8_t { kX, kY };

// As the policies AutoAugment and RandAugment shear: the upper left corner stays.
template <WarpAxis kAxis>
class Shear final : public WarpOperator {
 public:
  explicit Shear(const OperatorCall& call) : factor_(call, "factor"), look_(call) {}

  void draw(Random& random, ImageSize, PictureSteps& steps) const override {
    const double factor = factor_.draw(random);
    PlaneMap source;  // of whole pixels' corners
    source.m[kAxis == WarpAxis::kX ? 1 : 3] = factor;
    add_warp(PlaneMap::translation(-0.5, -0.5).after(source).after(PlaneMap::translation(0.5, 0.5)), look_, steps);
  }

 private:
  DrawnNumber factor_;
  WarpLook look_;
};

template <WarpAxis kAxis>
class Translate final : public WarpOperator {
 public:
  explicit Translate(const OperatorCall& call) : pixels_(call, "pixels"), fraction_(call, "fraction"), look_(call) {}

  void draw(Random& random, ImageSize size, PictureSteps& steps) const override {
    const double way =
        pixels_.draw(random) + fraction_.draw(random) * (kAxis == WarpAxis::kX ? size.width : size.height);
    add_warp(kAxis == WarpAxis::kX ? PlaneMap::translation(-way, 0) : PlaneMap::translation(0, -way), look_, steps);
  }

 private:
  DrawnNumber pixels_, fraction_;
  WarpLook look_;
};

}  // namespace

std::unique_ptr<PictureOperator> make_affine(const OperatorCall& call) { return std::make_unique<AffineWarp>(call); }
std::unique_ptr<PictureOperator> make_random_affine(const OperatorCall& call) {
  return std::make_unique<RandomAffine>(call);
}
std::unique_ptr<PictureOperator> make_shear_x(const OperatorCall& call) {
  return std::make_unique<Shear<WarpAxis::kX>>(call);
}
std::unique_ptr<PictureOperator> make_shear_y(const OperatorCall& call) {
  return std::make_unique<Shear<WarpAxis::kY>>(call);
}
std::unique_ptr<PictureOperator> make_translate_x(const OperatorCall& call) {
  return std::make_unique<Translate<WarpAxis::kX>>(call);
}
std::unique_ptr<PictureOperator> make_translate_y(const OperatorCall& call) {
  return std::make_unique<Translate<WarpAxis::kY>>(call);
}

}  // namespace stoker
