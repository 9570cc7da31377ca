// gaussian_blur: torchvision's GaussianBlur.
#include "stoker/base/error.h"
#include "stoker/base/portable_math.h"
#include "stoker/ops/picture/blur_steps.h"
#include "stoker/ops/picture/drawn_number.h"
#include "stoker/ops/picture/gaussian_taps.h"
#include "stoker/ops/picture/picture_makers.h"

namespace stoker {
namespace {

class GaussianBlur final : public PictureOperator {
 public:
  explicit GaussianBlur(const OperatorCall& call)
      : width_(static_cast<int>(call.numbers("kernel_size").front())),
        height_(static_cast<int>(call.numbers("kernel_size").back())),
        sigma_(call, "sigma") {
    static_assert(2 * GaussianTaps::kRadiusMax + 1 == 127);  // the limit in the table
    if (width_ % 2 == 0 || height_ % 2 == 0) {
      fail(ErrorKind::kUsage, "kernel_size is {} x {}; a kernel needs a middle, so both must be odd", width_, height_);
    }
  }

  void draw(Random& random, ImageSize, PictureSteps& steps) const override {
    add_gaussian_blur(width_ / 2, height_ / 2, sigma_.draw(random), steps);
  }

  PictureBounds bounds() const override { return {.steps = 2, .work_of_pixel = kBlurWorkOfPixel}; }

 private:
  int width_, height_;
  DrawnNumber sigma_;
};

void add_blur_step(PictureKind kind, int radius, float ratio, PictureSteps& steps) {
  PictureStep& step = steps.add(kind);
  step.n[0] = radius;
  step.f[0] = ratio;
}

}  // namespace

void add_gaussian_blur(int radius_x, int radius_y, double sigma, PictureSteps& steps) {
  const auto ratio = static_cast<float>(portable_exp(-0.5 / (sigma * sigma)));
  add_blur_step(PictureKind::kBlurAcross, radius_x, ratio, steps);
  add_blur_step(PictureKind::kBlurDown, radius_y, ratio, steps);
}

std::unique_ptr<PictureOperator> make_gaussian_blur(const OperatorCall& call) {
  return std::make_unique<GaussianBlur>(call);
}

}  // namespace stoker
