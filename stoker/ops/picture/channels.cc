// Operators that treat channels as wholes: channel_permutation, channel_dropout, channel_affine, lighting.
#include <array>
#include <utility>
#include <vector>

#include "stoker/base/distributions.h"
#include "stoker/base/error.h"
#include "stoker/ops/picture/by_chance.h"
#include "stoker/ops/picture/picture_makers.h"

namespace stoker {
namespace {

std::array<std::size_t, 3> drawn_order(Random& random) {
  std::array<std::size_t, 3> order{0, 1, 2};
  for (std::size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[random.below(left)]);
  return order;
}

/// A step that changes no colour.
PictureStep& add_affine(PictureSteps& steps) {
  PictureStep& step = steps.add(PictureKind::kAffine);
  for (int c = 0; c < 3; ++c) step.f[c] = 1;
  return step;
}

class ChannelPermutation final : public PictureOperator {
 public:
  void draw(Random& random, ImageSize, PictureSteps& steps) const override {
    const std::array<std::size_t, 3> order = drawn_order(random);
    PictureStep& step = steps.add(PictureKind::kPermutation);
    for (std::size_t c = 0; c < order.size(); ++c) step.n[c] = static_cast<std::int32_t>(order[c]);
  }
};

class ChannelDropout final : public PictureOperator {
 public:
  explicit ChannelDropout(const OperatorCall& call)
      : fewest_(static_cast<std::uint64_t>(call.numbers("channels").front())),
        most_(static_cast<std::uint64_t>(call.numbers("channels").back())),
        fill_(fill_argument(call)) {
    if (fewest_ > most_) {
      fail(ErrorKind::kUsage, "channels is [{}, {}]; the first number must not be above the second", fewest_, most_);
    }
  }

  void draw(Random& random, ImageSize, PictureSteps& steps) const override {
    const std::uint64_t dropped = fewest_ + random.below(most_ - fewest_ + 1);
    const std::array<std::size_t, 3> order = drawn_order(random);
    PictureStep& step = add_affine(steps);
    for (std::size_t i = 0; i < dropped; ++i) {
      step.f[order[i]] = 0;
      step.f[3 + order[i]] = fill_[order[i]];
    }
  }

 private:
  std::uint64_t fewest_, most_;
  std::array<std::uint8_t, 3> fill_;
};

class ChannelAffine final : public PictureOperator {
 public:
  explicit ChannelAffine(const OperatorCall& call) : scale_(call.numbers("scale")), bias_(call.numbers("bias")) {}

  void draw(Random&, ImageSize, PictureSteps& steps) const override {
    PictureStep& step = steps.add(PictureKind::kAffine);
    for (std::size_t c = 0; c < 3; ++c) {
      step.f[c] = static_cast<float>(scale_[scale_.size() == 1 ? 0 : c]);
      step.f[3 + c] = static_cast<float>(bias_[bias_.size() == 1 ? 0 : c]);
    }
  }

 private:
  std::vector<double> scale_, bias_;
};

// The principal components of ImageNet's colours, on values from 0 to 1, as published with reimplementations of
// AlexNet, which introduced this noise.
constexpr double kColorDeviation[3] = {0.2175, 0.0188, 0.0045};
constexpr double kColorComponent[3][3] = {
    {-0.5675, 0.7192, 0.4009}, {-0.5808, -0.0045, -0.8140}, {-0.5836, -0.6948, 0.4203}};  // by channel

class Lighting final : public PictureOperator {
 public:
  explicit Lighting(const OperatorCall& call) : alphastd_(call.number("alphastd")) {}

  void draw(Random& random, ImageSize, PictureSteps& steps) const override {
    std::array<double, 3> moved{};
    for (std::size_t k = 0; k < 3; ++k) {
      const double along = draw_normal(random, 0, alphastd_) * kColorDeviation[k];
      for (std::size_t c = 0; c < 3; ++c) moved[c] += kColorComponent[c][k] * along;
    }
    PictureStep& step = add_affine(steps);
    for (std::size_t c = 0; c < 3; ++c) step.f[3 + c] = static_cast<float>(255 * moved[c]);
  }

 private:
  double alphastd_;
};

}  // namespace

std::unique_ptr<PictureOperator> make_channel_permutation(const OperatorCall&) {
  return std::make_unique<ChannelPermutation>();
}
std::unique_ptr<PictureOperator> make_channel_dropout(const OperatorCall& call) {
  return by_chance(call, std::make_unique<ChannelDropout>(call));
}
std::unique_ptr<PictureOperator> make_channel_affine(const OperatorCall& call) {
  return std::make_unique<ChannelAffine>(call);
}
std::unique_ptr<PictureOperator> make_lighting(const OperatorCall& call) { return std::make_unique<Lighting>(call); }

}  // namespace stoker
