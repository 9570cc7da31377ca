// Operators that change each value by itself, by what it is or by how often it occurs.
#include <cmath>

#include "stoker/ops/picture/by_chance.h"
#include "stoker/ops/picture/drawn_number.h"
#include "stoker/ops/picture/picture_makers.h"

namespace stoker {
namespace {

// One step, with a parameter that is always the same.
class ToneStep final : public PictureOperator {
 public:
  explicit ToneStep(PictureKind kind, int parameter = 0) : kind_(kind), parameter_(parameter) {}

  void draw(Random&, ImageSize, PictureSteps& steps) const override { steps.add(kind_).n[0] = parameter_; }

 private:
  PictureKind kind_;
  int parameter_;
};

class Gamma final : public PictureOperator {
 public:
  explicit Gamma(const OperatorCall& call) : gamma_(call, "gamma"), gain_(static_cast<float>(call.number("gain"))) {}

  void draw(Random& random, ImageSize, PictureSteps& steps) const override {
    PictureStep& step = steps.add(PictureKind::kGamma);
    step.f[0] = static_cast<float>(gamma_.draw(random));
    step.f[1] = gain_;
  }

 private:
  DrawnNumber gamma_;
  float gain_;
};

}  // namespace

std::unique_ptr<PictureOperator> make_invert(const OperatorCall&) {
  return std::make_unique<ToneStep>(PictureKind::kInvert);
}
std::unique_ptr<PictureOperator> make_random_invert(const OperatorCall& call) {
  return by_chance(call, make_invert(call));
}

std::unique_ptr<PictureOperator> make_posterize(const OperatorCall& call) {
  const int mask = 256 - (1 << (8 - call.integer("bits")));
  return std::make_unique<ToneStep>(PictureKind::kPosterize, mask);
}
std::unique_ptr<PictureOperator> make_random_posterize(const OperatorCall& call) {
  return by_chance(call, make_posterize(call));
}

std::unique_ptr<PictureOperator> make_solarize(const OperatorCall& call) {
  const int threshold = static_cast<int>(std::ceil(call.number("threshold")));
  return std::make_unique<ToneStep>(PictureKind::kSolarize, threshold);
}
std::unique_ptr<PictureOperator> make_random_solarize(const OperatorCall& call) {
  return by_chance(call, make_solarize(call));
}

std::unique_ptr<PictureOperator> make_equalize(const OperatorCall&) {
  return std::make_unique<ToneStep>(PictureKind::kEqualize);
}
std::unique_ptr<PictureOperator> make_random_equalize(const OperatorCall& call) {
  return by_chance(call, make_equalize(call));
}

std::unique_ptr<PictureOperator> make_autocontrast(const OperatorCall&) {
  return std::make_unique<ToneStep>(PictureKind::kAutocontrast);
}
std::unique_ptr<PictureOperator> make_random_autocontrast(const OperatorCall& call) {
  return by_chance(call, make_autocontrast(call));
}

std::unique_ptr<PictureOperator> make_gamma(const OperatorCall& call) { return std::make_unique<Gamma>(call); }

}  // namespace stoker
