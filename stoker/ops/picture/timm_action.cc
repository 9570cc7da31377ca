#include "stoker/ops/picture/timm_action.h"

#include <algorithm>
#include <cmath>

#include "stoker/base/distributions.h"

namespace stoker {
namespace {

// What a level is of the largest usual one.
constexpr double kTimmLevelMax = 10;

double either_sign(Random& random, double value) { return random.uniform() < 0.5 ? -value : value; }

double increasing_factor(Random& random, double level) { return std::max(0.1, 1 + either_sign(random, level * 0.9)); }

double posterize_bits(TimmOp op, double level) {
  const double bits = std::trunc(level * 4);
  if (op == TimmOp::kPosterizeIncreasing) return std::max(4 - bits, 0.0);
  return std::min(op == TimmOp::kPosterizeOriginal ? bits + 4 : bits, 8.0);
}

double within_unit(double value) { return std::clamp(value, 0.0, 1.0); }

// `level` is a part of kTimmLevelMax.
PolicyAction timm_action(TimmOp op, double level, double translate_part, Random& random, ImageSize size) {
  switch (op) {
    case TimmOp::kAutoContrast: return {PolicyOp::kAutocontrast, 0};
    case TimmOp::kEqualize: return {PolicyOp::kEqualize, 0};
    case TimmOp::kInvert: return {PolicyOp::kInvert, 0};
    case TimmOp::kRotate: return {PolicyOp::kRotate, either_sign(random, level * 30)};
    case TimmOp::kPosterize:
    case TimmOp::kPosterizeIncreasing:
    case TimmOp::kPosterizeOriginal: return {PolicyOp::kPosterize, posterize_bits(op, level)};
    case TimmOp::kSolarize: return {PolicyOp::kSolarize, std::min(256.0, std::trunc(level * 256))};
    case TimmOp::kSolarizeIncreasing: return {PolicyOp::kSolarize, 256 - std::min(256.0, std::trunc(level * 256))};
    case TimmOp::kSolarizeAdd: return {PolicyOp::kSolarizeAdd, std::min(128.0, std::trunc(level * 110))};
    case TimmOp::kColor: return {PolicyOp::kColor, level * 1.8 + 0.1};
    case TimmOp::kContrast: return {PolicyOp::kContrast, level * 1.8 + 0.1};
    case TimmOp::kBrightness: return {PolicyOp::kBrightness, level * 1.8 + 0.1};
    case TimmOp::kSharpness: return {PolicyOp::kSharpness, level * 1.8 + 0.1};
    case TimmOp::kColorIncreasing: return {PolicyOp::kColor, increasing_factor(random, level)};
    case TimmOp::kContrastIncreasing: return {PolicyOp::kContrast, increasing_factor(random, level)};
    case TimmOp::kBrightnessIncreasing: return {PolicyOp::kBrightness, increasing_factor(random, level)};
    case TimmOp::kSharpnessIncreasing: return {PolicyOp::kSharpness, increasing_factor(random, level)};
    case TimmOp::kShearX: return {PolicyOp::kShearX, either_sign(random, level * 0.3)};
    case TimmOp::kShearY: return {PolicyOp::kShearY, either_sign(random, level * 0.3)};
    case TimmOp::kTranslateXRel:
      return {PolicyOp::kTranslateX, either_sign(random, level * translate_part) * size.width};
    case TimmOp::kTranslateYRel:
      return {PolicyOp::kTranslateY, either_sign(random, level * translate_part) * size.height};
    // Of 0.5 to 1, what is taken away.
    case TimmOp::kDesaturate: return {PolicyOp::kColor, 0.5 - 0.5 * within_unit(level)};
    case TimmOp::kGaussianBlur: return {PolicyOp::kBlur, 0.1 + 1.9 * within_unit(level)};
    case TimmOp::kGaussianBlurRand: return {PolicyOp::kBlur, random.uniform(0.1, 2 * within_unit(level))};
  }
  return {};
}

}  // namespace

PolicyAction TimmLevels::draw(TimmOp op, double magnitude, Random& random, ImageSize size) const {
  if (std::isinf(magnitude_std)) {
    magnitude = random.uniform(0, magnitude);
  } else if (magnitude_std > 0) {
    magnitude = draw_normal(random, magnitude, magnitude_std);
  }
  const double level = std::clamp(magnitude, 0.0, magnitude_max) / kTimmLevelMax;
  return timm_action(op, level, translate_part, random, size);
}

}  // namespace stoker
