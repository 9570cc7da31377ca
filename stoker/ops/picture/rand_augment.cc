// rand_augment and trivial_augment_wide: torchvision's RandAugment and TrivialAugmentWide.
#include "stoker/base/error.h"
#include "stoker/ops/picture/picture_makers.h"
#include "stoker/ops/picture/torchvision_space.h"

namespace stoker {
namespace {

const TorchvisionChoice& draw_choice(std::span<const TorchvisionChoice> space, Random& random) {
  return space[random.below(space.size())];
}

class RandAugment final : public PictureOperator {
 public:
  explicit RandAugment(const OperatorCall& call)
      : count_(call.integer("num_ops")),
        bin_(call.integer("magnitude")),
        bins_(call.integer("num_magnitude_bins")),
        look_(call) {
    if (bin_ >= bins_) {
      fail(ErrorKind::kUsage, "magnitude is {}, but must be below num_magnitude_bins, which is {}", bin_, bins_);
    }
  }

  void draw(Random& random, ImageSize size, PictureSteps& steps) const override {
    for (int i = 0; i < count_; ++i) {
      const TorchvisionChoice& choice = draw_choice(rand_augment_space(), random);
      add_action(draw_action(choice, bin_, bins_, random, size), size, look_, steps);
    }
  }

  PictureBounds bounds() const override { return bounds_of_actions(count_); }

 private:
  int count_, bin_, bins_;
  WarpLook look_;
};

class TrivialAugment final : public PictureOperator {
 public:
  explicit TrivialAugment(const OperatorCall& call) : bins_(call.integer("num_magnitude_bins")), look_(call) {}

  void draw(Random& random, ImageSize size, PictureSteps& steps) const override {
    const TorchvisionChoice& choice = draw_choice(trivial_augment_space(), random);
    const int bin = static_cast<int>(random.below(static_cast<std::uint64_t>(bins_)));
    add_action(draw_action(choice, bin, bins_, random, size), size, look_, steps);
  }

  PictureBounds bounds() const override { return bounds_of_actions(1); }

 private:
  int bins_;
  WarpLook look_;
};

}  // namespace

std::unique_ptr<PictureOperator> make_rand_augment(const OperatorCall& call) {
  return std::make_unique<RandAugment>(call);
}
std::unique_ptr<PictureOperator> make_trivial_augment_wide(const OperatorCall& call) {
  return std::make_unique<TrivialAugment>(call);
}

}  // namespace stoker
