// sharpness and random_sharpness: torchvision's adjust_sharpness and RandomAdjustSharpness.
#include "stoker/ops/picture/drawn_number.h"
#include "stoker/ops/picture/picture_makers.h"

namespace stoker {
namespace {

class Sharpness final : public PictureOperator {
 public:
  Sharpness(const OperatorCall& call, double p) : factor_(call, "factor"), p_(p) {}

  void draw(Random& random, ImageSize, PictureSteps& steps) const override {
    if (p_ < 1 && random.uniform() >= p_) return;
    steps.add(PictureKind::kSharpness).f[0] = static_cast<float>(1 - factor_.draw(random));
  }

 private:
  DrawnNumber factor_;
  double p_;
};

}  // namespace

std::unique_ptr<PictureOperator> make_sharpness(const OperatorCall& call) {
  return std::make_unique<Sharpness>(call, 1);
}
std::unique_ptr<PictureOperator> make_random_sharpness(const OperatorCall& call) {
  return std::make_unique<Sharpness>(call, call.number("p"));
}

}  // namespace stoker
