// aug_mix: torchvision's AugMix, which blends a picture with the results of several chains of operators.
#include <array>

#include "stoker/base/distributions.h"
#include "stoker/ops/picture/picture_makers.h"
#include "stoker/ops/picture/picture_mixture.h"
#include "stoker/ops/picture/torchvision_space.h"

namespace stoker {
namespace {

constexpr int kAugMixBins = 10;

class AugMix final : public PictureOperator {
 public:
  explicit AugMix(const OperatorCall& call)
      : severity_(call.integer("severity")),
        width_(call.integer("mixture_width")),
        depth_(call.integer("chain_depth")),
        alpha_(call.number("alpha")),
        space_(call.flag("all_ops") ? aug_mix_space() : aug_mix_space().first(kAugMixPlain)),
        look_(call) {}

  void draw(Random& random, ImageSize size, PictureSteps& steps) const override {
    std::array<double, 2> parts;  // of the picture as it is, and of the chains
    draw_dirichlet(random, alpha_, parts);
    std::array<double, kMixtureMax> weights;
    const std::span<double> of_chains(weights.data(), static_cast<std::size_t>(width_));
    draw_dirichlet(random, alpha_, of_chains);
    PictureMixture mixture(steps);
    for (int chain = 0; chain < width_; ++chain) {
      mixture.begin_chain();
      const int depth = depth_ > 0 ? depth_ : 1 + static_cast<int>(random.below(kAugMixDepthMax));
      for (int i = 0; i < depth; ++i) {
        const TorchvisionChoice& choice = space_[random.below(space_.size())];
        const int bin = static_cast<int>(random.below(static_cast<std::uint64_t>(severity_)));
        add_action(draw_action(choice, bin, kAugMixBins, random, size), size, look_, steps);
      }
    }
    mixture.end_weighted(parts[0], parts[1], of_chains);
  }

  PictureBounds bounds() const override {
    return PictureMixture::bounds(width_, depth_ > 0 ? depth_ : kAugMixDepthMax);
  }

 private:
  static constexpr int kAugMixDepthMax = 3;  // of those that are drawn

  int severity_, width_, depth_;
  double alpha_;
  std::span<const TorchvisionChoice> space_;
  WarpLook look_;
};

}  // namespace

std::unique_ptr<PictureOperator> make_aug_mix(const OperatorCall& call) { return std::make_unique<AugMix>(call); }

}  // namespace stoker
