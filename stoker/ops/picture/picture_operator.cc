#include "stoker/ops/picture/picture_operator.h"

#include <algorithm>
#include <utility>

#include "stoker/base/error.h"

namespace stoker {
namespace {

std::size_t aligned(std::size_t bytes) {
  constexpr std::size_t kUnit = PictureLayout::kAlignment;
  return (bytes + kUnit - 1) / kUnit * kUnit;
}

}  // namespace

void PictureChain::append(std::unique_ptr<const PictureOperator> op, std::uint64_t stream) {
  const PictureBounds more = op->bounds();
  if (bounds_.steps + more.steps > kPictureStepsMax) {
    fail(ErrorKind::kUsage, "the operators on pictures up to this one may take {} steps; the limit of a view is {}",
         bounds_.steps + more.steps, kPictureStepsMax);
  }
  bounds_.steps += more.steps;
  bounds_.kept = std::max(bounds_.kept, more.kept);
  bounds_.work_of_pixel = std::max(bounds_.work_of_pixel, more.work_of_pixel);
  operators_.push_back({std::move(op), stream});
}

void PictureChain::draw(ImageSize size, const SampleDraw& sample, PictureSteps& steps) const {
  steps.clear();
  for (const Operator& each : operators_) {
    Random random(sample.seed, sample.epoch, sample.position, each.stream);
    each.op->draw(random, size, steps);
  }
}

PictureLayout::PictureLayout(const PictureBounds& bounds, ImageSize size) {
  const std::size_t pixels = static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
  picture = aligned(3 * pixels);
  kept = 2 * picture;
  work = kept + static_cast<std::size_t>(bounds.kept) * picture;
  bytes = work + aligned(bounds.work_of_pixel * pixels);
}

}  // namespace stoker
