#include "stoker/ops/picture/picture_operator.h"

#include <algorithm>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/ops/picture/warp.h"

namespace stoker {
namespace {

std::size_t aligned(std::size_t bytes) {
  constexpr std::size_t kUnit = PictureLayout::kAlignment;
  return (bytes + kUnit - 1) / kUnit * kUnit;
}

}  // namespace

std::size_t PictureBytes::of(ImageSize size) const {
  const auto width = static_cast<std::size_t>(size.width), height = static_cast<std::size_t>(size.height);
  return of_pixel * width * height + of_row * height + of_column * width + at_all;
}

PictureBytes PictureBytes::max(const PictureBytes& other) const {
  return {std::max(of_pixel, other.of_pixel), std::max(of_row, other.of_row), std::max(of_column, other.of_column),
          std::max(at_all, other.at_all)};
}

void PictureChain::append(std::unique_ptr<const PictureOperator> op, std::uint64_t stream) {
  add_bounds(op->bounds());
  operators_.push_back({std::move(op), stream});
}

void PictureChain::add_bounds(const PictureBounds& more) {
  if (bounds_.steps + more.steps > kPictureStepsMax) {
    fail(ErrorKind::kUsage, "the operators on pictures up to this one may take {} steps; the limit of a view is {}",
         bounds_.steps + more.steps, kPictureStepsMax);
  }
  bounds_.steps += more.steps;
  bounds_.kept = std::max(bounds_.kept, more.kept);
  bounds_.work_of_pixel = std::max(bounds_.work_of_pixel, more.work_of_pixel);
  bounds_.scratch = bounds_.scratch.max(more.scratch);
}

void PictureChain::draw(ImageSize size, const SampleDraw& sample, PictureSteps& steps,
                        std::span<const PictureStep> first) const {
  steps.clear();
  for (const PictureStep& step : first) steps.add(step.kind) = step;
  for (const Operator& each : operators_) {
    Random random(sample.seed, sample.epoch, sample.position, each.stream);
    each.op->draw(random, size, steps);
  }
  compose_warps(steps);
}

PictureLayout::PictureLayout(const PictureBounds& bounds, ImageSize size, ImageSize first) : begin(first) {
  const auto pixels_of = [](ImageSize of) {
    return static_cast<std::size_t>(of.width) * static_cast<std::size_t>(of.height);
  };
  const std::size_t pixels = pixels_of(size);
  picture = aligned(3 * std::max(pixels, pixels_of(begin)));
  kept = 2 * picture;
  work = kept + static_cast<std::size_t>(bounds.kept) * picture;
  scratch = work + aligned(bounds.work_of_pixel * pixels);
  bytes = scratch + aligned(std::max(bounds.scratch.of(size), bounds.scratch.of(begin)));
}

}  // namespace stoker
