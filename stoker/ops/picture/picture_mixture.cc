#include "stoker/ops/picture/picture_mixture.h"

#include <array>
#include <cassert>

namespace stoker {

// Place 0 has the picture as it was, place i what chain i - 1 made of it; the last chain's result is the picture
// itself.
void PictureMixture::begin_chain() {
  steps_.add(PictureKind::kKeep).n[0] = chains_;
  if (chains_ > 0) steps_.add(PictureKind::kRecall).n[0] = 0;
  ++chains_;
}

void PictureMixture::add_sum(std::span<const float> weights, bool with_original) {
  assert(chains_ > 0 && chains_ <= kMixtureMax);
  PictureStep& step = steps_.add(PictureKind::kWeightedSum);
  step.n[0] = with_original ? 0 : 1;
  step.n[1] = chains_;
  for (std::size_t i = 0; i < weights.size(); ++i) step.f[i] = weights[i];
}

void PictureMixture::end_weighted(double original, double mixed, std::span<const double> weights) {
  assert(static_cast<int>(weights.size()) == chains_);
  std::array<float, kMixtureMax + 1> all;
  all[0] = static_cast<float>(original);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    all[i + 1] = static_cast<float>(weights[i]) * static_cast<float>(mixed);
  }
  add_sum({all.data(), weights.size() + 1}, true);
}

void PictureMixture::end_towards(double part, std::span<const double> weights) {
  assert(static_cast<int>(weights.size()) == chains_);
  std::array<float, kMixtureMax> all;
  for (std::size_t i = 0; i < weights.size(); ++i) all[i] = static_cast<float>(weights[i]);
  add_sum({all.data(), weights.size()}, false);
  steps_.add(PictureKind::kTowards).f[0] = static_cast<float>(part);
}

void PictureMixture::begin_blended_chain() {
  steps_.add(PictureKind::kKeep).n[0] = chains_ > 0 ? 1 : 0;
  if (chains_ > 0) steps_.add(PictureKind::kRecall).n[0] = 0;
  ++chains_;
}

void PictureMixture::end_blended_chain(double part) {
  PictureStep& step = steps_.add(PictureKind::kTowards);
  step.f[0] = static_cast<float>(part);
  step.n[0] = chains_ > 1 ? 1 : 0;
}

PictureBounds PictureMixture::bounds(int chains, int actions) {
  PictureBounds bounds = bounds_of_actions(chains * actions);
  bounds.steps += 3 * chains + 1;  // the most, of both ways
  bounds.kept = chains < 2 ? 2 : chains;
  return bounds;
}

}  // namespace stoker
