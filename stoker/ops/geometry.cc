#include "stoker/ops/geometry.h"

#include <algorithm>
#include <utility>

#include "stoker/base/error.h"

namespace stoker {
namespace {

void check_side(int side) {
  if (side > kChainSideMax) {
    fail(ErrorKind::kLimit, "its operators make a side of {} pixels; the limit is {}", side, kChainSideMax);
  }
}

// Padding and cropping in turns can carry the window away from the image for ever.
void check_window(const AxisMap& axis) {
  check_side(axis.length);
  check_side(axis.target);
  const int away = std::max(-axis.window_begin, axis.window_begin - axis.target);
  if (away > kChainSideMax) {
    fail(ErrorKind::kLimit, "its operators show an area {} pixels outside the image; the limit is {}", away,
         kChainSideMax);
  }
}

}  // namespace

void Geometry::append(std::unique_ptr<const GeometryOperator> op, std::uint64_t stream) {
  const GeometryOperator::Padding padding = op->padding();
  if (padded_ && !GeometryOperator::bears(padding)) fail(ErrorKind::kUsage, "{}", kPaddingResized);
  padded_ = GeometryOperator::adds(padding) || (padded_ && padding == GeometryOperator::Padding::kKeeps);
  op->follow_padding(padding_color_);
  if (!op->batch_choice().members.empty()) {
    if (choice_) fail(ErrorKind::kUsage, "a view has only one random_choice with mode='batch'");
    choice_ = steps_.size();
  }
  if (is_split_ && op->looks_at_boxes()) {
    fail(ErrorKind::kUsage, "it looks at boxes, and a warp before it moves them: put the warp after it");
  }
  steps_.push_back({std::move(op), stream});
}

void Geometry::split() {
  if (padded_) fail(ErrorKind::kUsage, "padding cannot be warped and then resized; put the warp before what pads");
  split_ = steps_.size();
  is_split_ = true;
}

bool Geometry::looks_at_boxes() const {
  return std::any_of(steps_.begin(), steps_.end(), [](const Step& step) { return step.op->looks_at_boxes(); });
}

// The draw depends on nothing but the batch.
std::size_t Geometry::chosen_member(const SampleDraw& sample) const {
  if (!choice_) return 0;
  const Step& step = steps_[*choice_];
  Random random(sample.seed, sample.epoch, sample.batch, step.stream);
  return step.op->batch_choice().combination->draw(random).members().front();
}

SamplingMap Geometry::draw(const SeenImage& image, const SampleDraw& sample) const {
  return draw_steps(steps_, image, SamplingMap().filter, sample);
}

SamplingMap Geometry::draw_before_split(const SeenImage& image, const SampleDraw& sample) const {
  return draw_steps(std::span(steps_).first(split_), image, SamplingMap().filter, sample);
}

SamplingMap Geometry::draw_after_split(ImageSize image, Filter filter, const SampleDraw& sample) const {
  return draw_steps(std::span(steps_).subspan(split_), image, filter, sample);
}

SamplingMap Geometry::draw_steps(std::span<const Step> steps, const SeenImage& image, Filter filter,
                                 const SampleDraw& sample) const {
  SamplingMap map = SamplingMap::identity(image.size.width, image.size.height);
  map.resize(image.as_large_as.width, image.as_large_as.height, filter);
  map.is_resized = false;
  for (const Step& step : steps) {
    Random random(sample.seed, sample.epoch, sample.position, step.stream);
    if (const GeometryChoice choice = step.op->batch_choice(); !choice.members.empty()) {
      const std::size_t member = chosen_member(sample);
      Random own = choice.combination->random_of(random, member);
      choice.members[member]->apply_to(image, own, map);
    } else {
      step.op->apply_to(image, random, map);
    }
    check_window(map.x);
    check_window(map.y);
  }
  return map;
}

std::optional<ImageSize> Geometry::size_with(std::size_t member) const {
  std::optional<ImageSize> size;
  for (const Step& step : steps_) {
    const GeometryChoice choice = step.op->batch_choice();
    const GeometryOperator& op = choice.members.empty() ? *step.op : *choice.members[member];
    size = op.output_size(size);
    if (size) check_side(std::max(size->width, size->height));
  }
  return size;
}

std::optional<ImageSize> Geometry::output_size() const {
  std::optional<ImageSize> most = size_with(0);
  const std::size_t members = choice_ ? steps_[*choice_].op->batch_choice().members.size() : 1;
  for (std::size_t member = 1; member < members && most; ++member) {
    const std::optional<ImageSize> size = size_with(member);
    if (!size) return std::nullopt;
    most = {std::max(most->width, size->width), std::max(most->height, size->height)};
  }
  return most;
}

std::optional<ImageSize> Geometry::output_size(const SampleDraw& sample) const {
  return size_with(chosen_member(sample));
}

bool Geometry::size_varies() const {
  const std::size_t members = choice_ ? steps_[*choice_].op->batch_choice().members.size() : 1;
  for (std::size_t member = 1; member < members; ++member) {
    if (size_with(member) != size_with(0)) return true;
  }
  return false;
}

ImageSize size_argument(const OperatorCall& call) {
  const std::vector<double>& size = call.numbers("size");
  return {static_cast<int>(size.back()), static_cast<int>(size.front())};
}

std::array<std::uint8_t, 3> fill_argument(const OperatorCall& call) {
  const std::vector<double>& fill = call.numbers("fill");
  std::array<std::uint8_t, 3> color;
  for (std::size_t c = 0; c < color.size(); ++c) color[c] = static_cast<std::uint8_t>(fill[fill.size() == 1 ? 0 : c]);
  return color;
}

}  // namespace stoker
