// gaussian_noise, shot_noise and salt_and_pepper: a random number for each value, or for each pixel.
#include <cmath>

#include "stoker/base/portable_math.h"
#include "stoker/ops/picture/drawn_number.h"
#include "stoker/ops/picture/picture_makers.h"

namespace stoker {
namespace {

constexpr double kWhite = 255;

class GaussianNoise final : public PictureOperator {
 public:
  explicit GaussianNoise(const OperatorCall& call) : mean_(call.number("mean")), sigma_(call, "sigma") {}

  void draw(Random& random, ImageSize, PictureSteps& steps) const override {
    PictureStep& step = steps.add(PictureKind::kGaussianNoise);
    step.f[0] = static_cast<float>(mean_ * kWhite);
    step.f[1] = static_cast<float>(sigma_.draw(random) * kWhite);
    step.key = random.next_u64();
  }

 private:
  double mean_;
  DrawnNumber sigma_;
};

class ShotNoise final : public PictureOperator {
 public:
  explicit ShotNoise(const OperatorCall& call) : photons_(call, "photons") {}

  void draw(Random& random, ImageSize, PictureSteps& steps) const override {
    const double photons = photons_.draw(random), parts = std::ceil(photons / kPhotonsOfPart);
    PictureStep& step = steps.add(PictureKind::kShotNoise);
    step.n[0] = static_cast<std::int32_t>(parts);
    step.f[0] = static_cast<float>(photons / kWhite / parts);
    step.f[1] = static_cast<float>(portable_exp(-photons / kWhite / parts));
    step.f[2] = static_cast<float>(kWhite / photons);
    step.key = random.next_u64();
  }

 private:
  static constexpr double kPhotonsOfPart = 64;  // exp(-64) is well within float32
  DrawnNumber photons_;
};

class SaltAndPepper final : public PictureOperator {
 public:
  explicit SaltAndPepper(const OperatorCall& call) : amount_(call, "amount"), ratio_(call, "ratio") {}

  void draw(Random& random, ImageSize, PictureSteps& steps) const override {
    const double amount = amount_.draw(random), salt = amount * ratio_.draw(random);
    PictureStep& step = steps.add(PictureKind::kSaltAndPepper);
    step.n[0] = static_cast<std::int32_t>(std::nearbyint(salt * 0x1p24));
    step.n[1] = static_cast<std::int32_t>(std::nearbyint(amount * 0x1p24));
    step.key = random.next_u64();
  }

 private:
  DrawnNumber amount_, ratio_;
};

}  // namespace

std::unique_ptr<PictureOperator> make_gaussian_noise(const OperatorCall& call) {
  return std::make_unique<GaussianNoise>(call);
}
std::unique_ptr<PictureOperator> make_shot_noise(const OperatorCall& call) { return std::make_unique<ShotNoise>(call); }
std::unique_ptr<PictureOperator> make_salt_and_pepper(const OperatorCall& call) {
  return std::make_unique<SaltAndPepper>(call);
}

}  // namespace stoker
