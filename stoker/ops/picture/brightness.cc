// brightness: multiplies every value.
#include "stoker/ops/picture/drawn_number.h"
#include "stoker/ops/picture/picture_makers.h"

namespace stoker {
namespace {

class Brightness final : public PictureOperator {
 public:
  explicit Brightness(const OperatorCall& call) : factor_(call, "factor") {}

  void draw(Random& random, ImageSize, PictureSteps& steps) const override {
    const auto factor = static_cast<float>(factor_.draw(random));
    PictureStep& step = steps.add(PictureKind::kAffine);
    for (int c = 0; c < 3; ++c) step.f[c] = factor;
  }

 private:
  DrawnNumber factor_;
};

}  // namespace

std::unique_ptr<PictureOperator> make_brightness(const OperatorCall& call) {
  return std::make_unique<Brightness>(call);
}

}  // namespace stoker
