// The operators of timm's policies, and what their levels mean, as timm 1.0.31 defines them.
#pragma once

#include <cstdint>

#include "stoker/ops/picture/policy_action.h"

namespace stoker {

/// By timm's names.
enum class TimmOp : std::uint8_t {
  kAutoContrast,
  kEqualize,
  kInvert,
  kRotate,
  kPosterize,
  kPosterizeIncreasing,
  kPosterizeOriginal,
  kSolarize,
  kSolarizeIncreasing,
  kSolarizeAdd,
  kColor,
  kColorIncreasing,
  kContrast,
  kContrastIncreasing,
  kBrightness,
  kBrightnessIncreasing,
  kSharpness,
  kSharpnessIncreasing,
  kShearX,
  kShearY,
  kTranslateXRel,
  kTranslateYRel,
  kDesaturate,
  kGaussianBlur,
  kGaussianBlurRand,
};

/// How magnitudes become levels and levels actions.
struct TimmLevels {
  double magnitude_std = 0;  // of a normal distribution around the magnitude; infinite: uniform from 0 to it
  double magnitude_max = 10;
  double translate_part = 0.45;  // of the picture's side, at level 10

  /// Draws the level for an operator of this magnitude, and what else is random about it.
  PolicyAction draw(TimmOp op, double magnitude, Random& random, ImageSize size) const;
};

}  // namespace stoker
