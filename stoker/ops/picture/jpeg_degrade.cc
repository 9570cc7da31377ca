// jpeg_degrade: torchvision's JPEG, without the coding that loses nothing.
#include "stoker/ops/picture/drawn_number.h"
#include "stoker/ops/picture/picture_makers.h"

namespace stoker {
namespace {

class JpegDegrade final : public PictureOperator {
 public:
  explicit JpegDegrade(const OperatorCall& call) : quality_(call, "quality") {}

  void draw(Random& random, ImageSize, PictureSteps& steps) const override {
    const auto choices = static_cast<std::uint64_t>(quality_.high() - quality_.low()) + 1;
    const std::uint64_t above = choices == 1 ? 0 : random.below(choices);
    steps.add(PictureKind::kJpegCode).n[0] =
        static_cast<std::int32_t>(quality_.low()) + static_cast<std::int32_t>(above);
    steps.add(PictureKind::kJpegColor);
  }

  PictureBounds bounds() const override { return {.steps = 2, .work_of_pixel = 3}; }

 private:
  DrawnNumber quality_;
};

}  // namespace

std::unique_ptr<PictureOperator> make_jpeg_degrade(const OperatorCall& call) {
  return std::make_unique<JpegDegrade>(call);
}

}  // namespace stoker
