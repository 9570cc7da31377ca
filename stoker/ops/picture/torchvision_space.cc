#include "stoker/ops/picture/torchvision_space.h"

#include <array>
#include <cmath>

namespace stoker {
namespace {

using Choice = TorchvisionChoice;
using Scale = TorchvisionChoice::Scale;

// torch.linspace in float32: from both ends to the middle, with PyTorch's fused products. One bit decides which of two
// whole numbers of pixels a translation becomes.
float linspace(double from, double to, int bin, int bins) {
  const auto first = static_cast<float>(from), last = static_cast<float>(to);
  const float step = (last - first) / static_cast<float>(bins - 1);
  return bin < bins / 2 ? std::fma(step, static_cast<float>(bin), first)
                        : std::fma(-step, static_cast<float>(bins - bin - 1), last);
}

constexpr double kPartOfSide = 150.0 / 331;

constexpr Choice kShearXChoice = {PolicyOp::kShearX, Scale::kNumbers, 0, 0.3, true};
constexpr Choice kShearYChoice = {PolicyOp::kShearY, Scale::kNumbers, 0, 0.3, true};
constexpr Choice kTranslateXChoice = {PolicyOp::kTranslateX, Scale::kWidths, 0, kPartOfSide, true};
constexpr Choice kTranslateYChoice = {PolicyOp::kTranslateY, Scale::kHeights, 0, kPartOfSide, true};
constexpr Choice kRotateChoice = {PolicyOp::kRotate, Scale::kNumbers, 0, 30, true};
constexpr Choice kBrightnessChoice = {PolicyOp::kBrightness, Scale::kNumbers, 0, 0.9, true};
constexpr Choice kColorChoice = {PolicyOp::kColor, Scale::kNumbers, 0, 0.9, true};
constexpr Choice kContrastChoice = {PolicyOp::kContrast, Scale::kNumbers, 0, 0.9, true};
constexpr Choice kSharpnessChoice = {PolicyOp::kSharpness, Scale::kNumbers, 0, 0.9, true};
constexpr Choice kPosterizeChoice = {PolicyOp::kPosterize, Scale::kBits, 8, 4};
constexpr Choice kSolarizeChoice = {PolicyOp::kSolarize, Scale::kNumbers, 1, 0};
constexpr Choice kAutocontrastChoice = {PolicyOp::kAutocontrast};
constexpr Choice kEqualizeChoice = {PolicyOp::kEqualize};
constexpr Choice kInvertChoice = {PolicyOp::kInvert};
constexpr Choice kIdentityChoice = {PolicyOp::kIdentity};

constexpr std::array kRandAugmentSpace = {kIdentityChoice,     kShearXChoice,    kShearYChoice,     kTranslateXChoice,
                                          kTranslateYChoice,   kRotateChoice,    kBrightnessChoice, kColorChoice,
                                          kContrastChoice,     kSharpnessChoice, kPosterizeChoice,  kSolarizeChoice,
                                          kAutocontrastChoice, kEqualizeChoice};

constexpr std::array kAutoAugmentSpace = {kShearXChoice,    kShearYChoice,     kTranslateXChoice, kTranslateYChoice,
                                          kRotateChoice,    kBrightnessChoice, kColorChoice,      kContrastChoice,
                                          kSharpnessChoice, kPosterizeChoice,  kSolarizeChoice,   kAutocontrastChoice,
                                          kEqualizeChoice,  kInvertChoice};

constexpr std::array<Choice, 14> kTrivialAugmentSpace = {{
    {PolicyOp::kIdentity},
    {PolicyOp::kShearX, Scale::kNumbers, 0, 0.99, true},
    {PolicyOp::kShearY, Scale::kNumbers, 0, 0.99, true},
    {PolicyOp::kTranslateX, Scale::kNumbers, 0, 32, true},
    {PolicyOp::kTranslateY, Scale::kNumbers, 0, 32, true},
    {PolicyOp::kRotate, Scale::kNumbers, 0, 135, true},
    {PolicyOp::kBrightness, Scale::kNumbers, 0, 0.99, true},
    {PolicyOp::kColor, Scale::kNumbers, 0, 0.99, true},
    {PolicyOp::kContrast, Scale::kNumbers, 0, 0.99, true},
    {PolicyOp::kSharpness, Scale::kNumbers, 0, 0.99, true},
    {PolicyOp::kPosterize, Scale::kBits, 8, 2},
    {PolicyOp::kSolarize, Scale::kNumbers, 1, 0},
    {PolicyOp::kAutocontrast},
    {PolicyOp::kEqualize},
}};

constexpr double kThird = 1.0 / 3;
constexpr std::array<Choice, 13> kAugMixSpace = {{
    kShearXChoice,
    kShearYChoice,
    {PolicyOp::kTranslateX, Scale::kWidths, 0, kThird, true},
    {PolicyOp::kTranslateY, Scale::kHeights, 0, kThird, true},
    kRotateChoice,
    {PolicyOp::kPosterize, Scale::kBits, 4, 0},
    kSolarizeChoice,
    kAutocontrastChoice,
    kEqualizeChoice,
    kBrightnessChoice,
    kColorChoice,
    kContrastChoice,
    kSharpnessChoice,
}};

// What torchvision makes of a magnitude when it applies an operator.
double amount_of(PolicyOp op, float magnitude) {
  switch (op) {
    case PolicyOp::kTranslateX:
    case PolicyOp::kTranslateY: return std::trunc(magnitude);
    case PolicyOp::kBrightness:
    case PolicyOp::kColor:
    case PolicyOp::kContrast:
    case PolicyOp::kSharpness: return 1 + static_cast<double>(magnitude);
    // Compared with bytes in float32.
    case PolicyOp::kSolarize: return static_cast<float>(255 * static_cast<double>(magnitude));
    default: return magnitude;
  }
}

}  // namespace

PolicyAction TorchvisionChoice::action(int bin, int bins, bool negative, ImageSize size) const {
  float magnitude = 0;
  switch (scale) {
    case Scale::kNone: return {op, 0};
    case Scale::kNumbers: magnitude = linspace(first, last, bin, bins); break;
    case Scale::kWidths: magnitude = linspace(first, last * size.width, bin, bins); break;
    case Scale::kHeights: magnitude = linspace(first, last * size.height, bin, bins); break;
    case Scale::kBits: {
      const float part = static_cast<float>((bins - 1) / (first - last));
      magnitude = std::nearbyint(static_cast<float>(first) - static_cast<float>(bin) / part);
      break;
    }
  }
  return {op, amount_of(op, negative ? -magnitude : magnitude)};
}

std::span<const TorchvisionChoice> rand_augment_space() { return kRandAugmentSpace; }
std::span<const TorchvisionChoice> trivial_augment_space() { return kTrivialAugmentSpace; }
std::span<const TorchvisionChoice> auto_augment_space() { return kAutoAugmentSpace; }
std::span<const TorchvisionChoice> aug_mix_space() { return kAugMixSpace; }

PolicyAction draw_action(const TorchvisionChoice& choice, int bin, int bins, Random& random, ImageSize size) {
  const bool negative = choice.negated && random.uniform() < 0.5;
  return choice.action(bin, bins, negative, size);
}

}  // namespace stoker
