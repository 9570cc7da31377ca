#include "stoker/ops/picture/policy_action.h"

#include <algorithm>
#include <cmath>

#include "stoker/ops/picture/adjustments.h"
#include "stoker/ops/picture/blur_steps.h"

namespace stoker {
namespace {

// The upper left corner stays.
PlaneMap shear_about_corner(double x, double y) {
  PlaneMap source;  // of whole pixels' corners
  source.m[1] = x;
  source.m[3] = y;
  return PlaneMap::translation(-0.5, -0.5).after(source).after(PlaneMap::translation(0.5, 0.5));
}

void add_policy_blur(double sigma, PictureSteps& steps) {
  const int radius = std::max(1, static_cast<int>(std::ceil(3 * sigma)));  // beyond it is less than a byte shows
  add_gaussian_blur(radius, radius, sigma, steps);
}

void add_unmarked(const PolicyAction& action, ImageSize size, const WarpLook& look, PictureSteps& steps) {
  constexpr auto kStyle = AdjustmentStyle::kTorchvision;
  const double amount = action.amount;
  switch (action.op) {
    case PolicyOp::kIdentity: return;
    case PolicyOp::kShearX: return add_warp(shear_about_corner(amount, 0), look, steps);
    case PolicyOp::kShearY: return add_warp(shear_about_corner(0, amount), look, steps);
    case PolicyOp::kTranslateX: return add_warp(PlaneMap::translation(-amount, 0), look, steps);
    case PolicyOp::kTranslateY: return add_warp(PlaneMap::translation(0, -amount), look, steps);
    case PolicyOp::kRotate: return add_warp(AffineChange{.angle = -amount, .center = {}}.source(size), look, steps);
    case PolicyOp::kBrightness: return add_brightness(steps, kStyle, amount);
    case PolicyOp::kColor: return add_saturation(steps, kStyle, amount);
    case PolicyOp::kContrast: return add_contrast(steps, kStyle, amount);
    case PolicyOp::kSharpness: steps.add(PictureKind::kSharpness).f[0] = static_cast<float>(1 - amount); return;
    case PolicyOp::kPosterize:
      steps.add(PictureKind::kPosterize).n[0] = 256 - (1 << (8 - static_cast<int>(amount)));
      return;
    case PolicyOp::kSolarize:
      steps.add(PictureKind::kSolarize).n[0] = static_cast<std::int32_t>(std::ceil(amount));
      return;
    case PolicyOp::kSolarizeAdd: steps.add(PictureKind::kSolarizeAdd).n[0] = static_cast<std::int32_t>(amount); return;
    case PolicyOp::kAutocontrast: steps.add(PictureKind::kAutocontrast); return;
    case PolicyOp::kEqualize: steps.add(PictureKind::kEqualize); return;
    case PolicyOp::kInvert: steps.add(PictureKind::kInvert); return;
    case PolicyOp::kBlur: return add_policy_blur(amount, steps);
  }
}

}  // namespace

void add_action(const PolicyAction& action, ImageSize size, const WarpLook& look, PictureSteps& steps) {
  const std::size_t before = steps.all().size();
  add_unmarked(action, size, look, steps);
  for (PictureStep& step : steps.all().subspan(before)) step.alone = true;
}

PictureBounds bounds_of_actions(int actions, int steps) {
  return {.steps = actions * steps,
          .work_of_pixel = steps > 1 ? kBlurWorkOfPixel : 0,  // two steps blur
          .scratch = kWarpScratch};
}

}  // namespace stoker
