// The operators and magnitudes between which torchvision's policies choose, as torchvision 0.25 defines them.
#pragma once

#include <span>

#include "stoker/ops/picture/policy_action.h"

namespace stoker {

/// An operator whose magnitudes are divided into bins.
struct TorchvisionChoice {
  enum class Scale : std::uint8_t {
    kNone,     // it has no magnitude
    kNumbers,  // from `first` to `last`
    kWidths,   // the same, times the picture's width
    kHeights,
    kBits,  // 8-bit values keep from `first` bits to `last`
  };
  PolicyOp op;
  Scale scale = Scale::kNone;
  double first = 0, last = 0;
  bool negated = false;  // half of the times

  /// With the magnitude of bin 0 to bins - 1, of which there are at least two. torchvision's float32.
  PolicyAction action(int bin, int bins, bool negative, ImageSize size) const;
};

std::span<const TorchvisionChoice> rand_augment_space();
std::span<const TorchvisionChoice> trivial_augment_space();
std::span<const TorchvisionChoice> auto_augment_space();
/// The first kAugMixPlain are those without brightness, color, contrast and sharpness.
std::span<const TorchvisionChoice> aug_mix_space();
inline constexpr std::size_t kAugMixPlain = 9;

/// The choice with a magnitude of this bin, negative by chance where it may be.
PolicyAction draw_action(const TorchvisionChoice& choice, int bin, int bins, Random& random, ImageSize size);

}  // namespace stoker
