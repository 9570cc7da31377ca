#include "stoker/ops/mix.h"

#include <algorithm>
#include <cmath>

#include "stoker/base/distributions.h"

namespace stoker {
namespace {

double area(ImageSize size) { return static_cast<double>(size.width) * size.height; }

// The partner's share of a pair is what is left of its own.
void weigh_pair(MixDraw& mix, double own) {
  mix.weight[0] = static_cast<float>(own);
  mix.weight[1] = 1.0f - mix.weight[0];
  if (mix.weight[1] == 0) mix = {};
}

MixDraw draw_mixup(Random& random, double alpha) {
  MixDraw mix{.kind = MixDraw::Kind::kBlend};
  weigh_pair(mix, draw_beta(random, alpha, alpha));
  return mix;
}

// Torchvision's box: its centre is uniform over the picture, and what lies outside is cut off. Its area, and not the
// number drawn from the beta distribution, weighs the labels.
MixDraw draw_cutmix(Random& random, double alpha, ImageSize size) {
  const double half = 0.5 * std::sqrt(1 - draw_beta(random, alpha, alpha));
  const auto x = static_cast<int>(random.below(static_cast<std::uint64_t>(size.width)));
  const auto y = static_cast<int>(random.below(static_cast<std::uint64_t>(size.height)));
  const int half_width = static_cast<int>(half * size.width), half_height = static_cast<int>(half * size.height);
  MixDraw mix{.kind = MixDraw::Kind::kPaste};
  mix.left = std::max(x - half_width, 0);
  mix.top = std::max(y - half_height, 0);
  mix.right = std::min(x + half_width, size.width);
  mix.bottom = std::min(y + half_height, size.height);
  weigh_pair(mix, 1 - area({mix.right - mix.left, mix.bottom - mix.top}) / area(size));
  return mix;
}

class Mixup final : public BatchOperator {
 public:
  explicit Mixup(const OperatorCall& call) : alpha_(call.number("alpha")), p_(call.number("p")) {}

  int group() const override { return 2; }
  MixDraw draw(Random& random, ImageSize) const override {
    return random.uniform() < p_ ? draw_mixup(random, alpha_) : MixDraw{};
  }

 private:
  double alpha_, p_;
};

class Cutmix final : public BatchOperator {
 public:
  explicit Cutmix(const OperatorCall& call) : alpha_(call.number("alpha")), p_(call.number("p")) {}

  int group() const override { return 2; }
  MixDraw draw(Random& random, ImageSize size) const override {
    return random.uniform() < p_ ? draw_cutmix(random, alpha_, size) : MixDraw{};
  }

 private:
  double alpha_, p_;
};

class MixupOrCutmix final : public BatchOperator {
 public:
  explicit MixupOrCutmix(const OperatorCall& call)
      : mixup_alpha_(call.number("mixup_alpha")),
        cutmix_alpha_(call.number("cutmix_alpha")),
        switch_prob_(call.number("switch_prob")),
        prob_(call.number("prob")) {}

  int group() const override { return 2; }
  MixDraw draw(Random& random, ImageSize size) const override {
    if (random.uniform() >= prob_) return {};
    if (random.uniform() < switch_prob_) return draw_cutmix(random, cutmix_alpha_, size);
    return draw_mixup(random, mixup_alpha_);
  }

 private:
  double mixup_alpha_, cutmix_alpha_, switch_prob_, prob_;
};

// The corner at which the four parts meet is as far from the upper left one as two numbers of the beta distribution
// say. Each part shows what its picture has at that place: nothing is moved or resized, so that boxes and masks of the
// pictures stay valid, and a view's crop decides what is seen.
class Mosaic final : public BatchOperator {
 public:
  explicit Mosaic(const OperatorCall& call) : alpha_(call.number("alpha")), p_(call.number("p")) {}

  int group() const override { return 4; }
  bool shows_rectangles() const override { return true; }
  MixDraw draw(Random& random, ImageSize size) const override {
    if (random.uniform() >= p_) return {};
    MixDraw mix{.kind = MixDraw::Kind::kQuarters};
    mix.left = place(random, size.width);
    mix.top = place(random, size.height);
    const int right = size.width - mix.left, bottom = size.height - mix.top;
    const ImageSize parts[] = {{mix.left, mix.top}, {right, mix.top}, {mix.left, bottom}, {right, bottom}};
    for (int k = 0; k < kMixGroupMax; ++k) mix.weight[k] = static_cast<float>(area(parts[k]) / area(size));
    return mix;
  }

 private:
  int place(Random& random, int side) const {
    return static_cast<int>(std::floor(draw_beta(random, alpha_, alpha_) * side + 0.5));
  }

  double alpha_, p_;
};

int moved(int place, int from, int to) { return static_cast<int>(std::int64_t{place} * to / from); }

}  // namespace

MixDraw scaled(MixDraw mix, ImageSize from, ImageSize to) {
  mix.left = moved(mix.left, from.width, to.width);
  mix.right = moved(mix.right, from.width, to.width);
  mix.top = moved(mix.top, from.height, to.height);
  mix.bottom = moved(mix.bottom, from.height, to.height);
  return mix;
}

std::unique_ptr<BatchOperator> make_mixup(const OperatorCall& call) { return std::make_unique<Mixup>(call); }
std::unique_ptr<BatchOperator> make_cutmix(const OperatorCall& call) { return std::make_unique<Cutmix>(call); }
std::unique_ptr<BatchOperator> make_mixup_or_cutmix(const OperatorCall& call) {
  return std::make_unique<MixupOrCutmix>(call);
}
std::unique_ptr<BatchOperator> make_mosaic(const OperatorCall& call) { return std::make_unique<Mosaic>(call); }

}  // namespace stoker
