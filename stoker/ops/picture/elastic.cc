// elastic: every pixel is moved by a smooth random field.
#include <cmath>

#include "stoker/ops/picture/picture_makers.h"
#include "stoker/ops/picture/warp.h"

namespace stoker {
namespace {

// Cubic B-splines on a lattice of this spacing smooth as a normal distribution of standard deviation 1 does.
const double kSpacing = std::sqrt(3.0);
// The mean of the sum of squares of a point's four weights.
constexpr double kWeights = 151.0 / 315;
// The variance of ElasticField::Noise.
constexpr double kNoiseVariance = 8 * (256.0 * 256 - 1) / 12;

class Elastic final : public PictureOperator {
 public:
  explicit Elastic(const OperatorCall& call) : look_(call) {
    const std::vector<double>&alpha = call.numbers("alpha"), &sigma = call.numbers("sigma");
    density_[0] = static_cast<float>(1 / (kSpacing * sigma.front()));
    density_[1] = static_cast<float>(1 / (kSpacing * sigma.back()));
    // As torchvision's: half of alpha times noise uniform between -1 and 1 that a Gaussian filter smoothed.
    const double smoothed = 1 / std::sqrt(3.0) / (2 * std::sqrt(kPi * sigma.front() * sigma.back()));
    const double drawn = std::sqrt(kNoiseVariance) * kWeights;
    gain_[0] = static_cast<float>(alpha.front() / 2 * smoothed / drawn);
    gain_[1] = static_cast<float>(alpha.back() / 2 * smoothed / drawn);
  }

  PictureBounds bounds() const override { return {.scratch = kElasticScratch}; }

  void draw(Random& random, ImageSize, PictureSteps& steps) const override {
    PictureStep& step = steps.add(PictureKind::kElastic);
    for (int axis = 0; axis < 2; ++axis) {
      step.f[WarpStep::kDensity + axis] = density_[axis];
      step.f[WarpStep::kGain + axis] = gain_[axis];
    }
    step.key = random.next_u64();
    look_.store(step);
  }

 private:
  static constexpr double kPi = 0x1.921fb54442d18p1;

  float density_[2], gain_[2];
  WarpLook look_;
};

}  // namespace

std::unique_ptr<PictureOperator> make_elastic(const OperatorCall& call) { return std::make_unique<Elastic>(call); }

}  // namespace stoker
