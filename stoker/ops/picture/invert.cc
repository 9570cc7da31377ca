// invert: the negative.
#include "stoker/ops/picture/picture_makers.h"

namespace stoker {
namespace {

class Invert final : public PictureOperator {
 public:
  void draw(Random&, ImageSize, PictureSteps& steps) const override { steps.add(PictureKind::kInvert); }
};

}  // namespace

std::unique_ptr<PictureOperator> make_invert(const OperatorCall&) { return std::make_unique<Invert>(); }

}  // namespace stoker
