// gaussian_blur: torchvision's GaussianBlur.
#include "stoker/base/error.h"
#include "stoker/base/portable_math.h"
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
    const double sigma = sigma_.draw(random);
    const auto ratio = static_cast<float>(portable_exp(-0.5 / (sigma * sigma)));
    add_pass(steps, PictureKind::kBlurAcross, width_ / 2, ratio);
    add_pass(steps, PictureKind::kBlurDown, height_ / 2, ratio);
  }

  PictureBounds bounds() const override { return {.steps = 2, .work_of_pixel = 3 * sizeof(std::int16_t)}; }

 private:
  static void add_pass(PictureSteps& steps, PictureKind kind, int radius, float ratio) {
    PictureStep& step = steps.add(kind);
    step.n[0] = radius;
    step.f[0] = ratio;
  }

  int width_, height_;
  DrawnNumber sigma_;
};

}  // namespace

std::unique_ptr<PictureOperator> make_gaussian_blur(const OperatorCall& call) {
  return std::make_unique<GaussianBlur>(call);
}

}  // namespace stoker
