// Blends of what several chains of steps make of one picture.
#pragma once

#include <span>

#include "stoker/ops/picture/policy_action.h"

namespace stoker {

/// The most chains of a mixture.
inline constexpr int kMixtureMax = 10;

/// Adds the steps of a mixture: for each chain begin_chain() and the chain's own steps, then one of the ends. What the
/// chains make is kept as bytes, and the blend is cut off to bytes, as torchvision and timm do.
class PictureMixture {
 public:
  explicit PictureMixture(PictureSteps& steps) : steps_(steps) {}

  /// The chain starts with the picture as it was.
  void begin_chain();

  /// The picture as it was times `original`, and each chain's times `mixed` times its weight, summed up in this order
  /// in float32.
  void end_weighted(double original, double mixed, std::span<const double> weights);
  /// The chains blended by their weights, and the picture then moved towards the result by `part`; both are cut off to
  /// bytes.
  void end_towards(double part, std::span<const double> weights);

  /// Instead: the chain starts with the picture as it was, and its result is blended at once, by `part`, into what was
  /// before begin_blended_chain(). Cut off to bytes each time.
  void begin_blended_chain();
  void end_blended_chain(double part);

  static PictureBounds bounds(int chains, int actions);

 private:
  void add_sum(std::span<const float> weights, bool with_original);

  PictureSteps& steps_;
  int chains_ = 0;
};

}  // namespace stoker
