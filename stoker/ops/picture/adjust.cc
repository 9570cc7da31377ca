// brightness, contrast, saturation, hue: by a factor that is given, or drawn for each picture; grayscale. Each also as
// torchvision does it, step by step.
#include "stoker/ops/picture/adjustments.h"
#include "stoker/ops/picture/by_chance.h"
#include "stoker/ops/picture/drawn_number.h"
#include "stoker/ops/picture/picture_makers.h"

namespace stoker {
namespace {

using AddAdjustment = void (*)(PictureSteps& steps, AdjustmentStyle style, double factor);

class Adjustment final : public PictureOperator {
 public:
  Adjustment(AddAdjustment add, AdjustmentStyle style, DrawnNumber factor)
      : add_(add), style_(style), factor_(factor) {}

  void draw(Random& random, ImageSize, PictureSteps& steps) const override {
    add_(steps, style_, factor_.draw(random));
  }

 private:
  AddAdjustment add_;
  AdjustmentStyle style_;
  DrawnNumber factor_;
};

std::unique_ptr<PictureOperator> make_adjustment(const OperatorCall& call, AddAdjustment add, AdjustmentStyle style) {
  return std::make_unique<Adjustment>(add, style, DrawnNumber(call, "factor"));
}

class TorchvisionGrayscale final : public PictureOperator {
 public:
  void draw(Random&, ImageSize, PictureSteps& steps) const override { steps.add(PictureKind::kTorchvisionGrayscale); }
};

}  // namespace

std::unique_ptr<PictureOperator> make_brightness(const OperatorCall& call) {
  return make_adjustment(call, &add_brightness, AdjustmentStyle::kStoker);
}
std::unique_ptr<PictureOperator> make_contrast(const OperatorCall& call) {
  return make_adjustment(call, &add_contrast, AdjustmentStyle::kStoker);
}
std::unique_ptr<PictureOperator> make_saturation(const OperatorCall& call) {
  return make_adjustment(call, &add_saturation, AdjustmentStyle::kStoker);
}
std::unique_ptr<PictureOperator> make_hue(const OperatorCall& call) {
  return make_adjustment(call, &add_hue, AdjustmentStyle::kStoker);
}
std::unique_ptr<PictureOperator> make_grayscale(const OperatorCall&) {
  return std::make_unique<Adjustment>(&add_saturation, AdjustmentStyle::kStoker, DrawnNumber(0, 0));
}
std::unique_ptr<PictureOperator> make_random_grayscale(const OperatorCall& call) {
  return by_chance(call, make_grayscale(call));
}

std::unique_ptr<PictureOperator> make_torchvision_brightness(const OperatorCall& call) {
  return make_adjustment(call, &add_brightness, AdjustmentStyle::kTorchvision);
}
std::unique_ptr<PictureOperator> make_torchvision_contrast(const OperatorCall& call) {
  return make_adjustment(call, &add_contrast, AdjustmentStyle::kTorchvision);
}
std::unique_ptr<PictureOperator> make_torchvision_saturation(const OperatorCall& call) {
  return make_adjustment(call, &add_saturation, AdjustmentStyle::kTorchvision);
}
std::unique_ptr<PictureOperator> make_torchvision_hue(const OperatorCall& call) {
  return make_adjustment(call, &add_hue, AdjustmentStyle::kTorchvision);
}
std::unique_ptr<PictureOperator> make_torchvision_grayscale(const OperatorCall&) {
  return std::make_unique<TorchvisionGrayscale>();
}

}  // namespace stoker
