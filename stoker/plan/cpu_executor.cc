#include "stoker/plan/cpu_executor.h"

#include <algorithm>
#include <cassert>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/codec/decode_memory.h"
#include "stoker/ops/kernels/convert.h"

namespace stoker {

StageOutputs ImageStages::begin(const ViewPlan& view, Bytes encoded, const SampleDraw& draw) {
  program_ = &view.image;
  encoded_ = encoded;
  facts_ = decoder_.read_facts(encoded);
  orientation_ = program_->decode.apply_orientation ? facts_.orientation : Orientation{1};
  const ImageSize upright =
      orientation_ >= 5 ? ImageSize{facts_.height, facts_.width} : ImageSize{facts_.width, facts_.height};
  map_ = program_->geometry.draw(upright, draw);
  build_taps(map_.x, map_.filter, taps_x_);
  build_taps(map_.y, map_.filter, taps_y_);
  const ImageSize size{map_.width(), map_.height()};
  const auto pixels = [](int width, int height) {
    return StageOutputs::Tensor{DType::kU8, image_shape(Layout::kNhwc, height, width, ColorMap::kChannels)};
  };
  return {.decode = pixels(window().width, window().height),
          .geometry = pixels(size.width, size.height),
          .color = {view.image.format.dtype, Plan::image_shape_of(view, size)},
          .size = size};
}

Rect ImageStages::window() const {
  // A map may show nothing but padding; decoders still need a window, and a bad sample must still be found.
  const auto span_of = [](const AxisTaps& taps) { return std::max(taps.source_end - taps.source_begin, 1); };
  return {taps_x_.source_begin, taps_y_.source_begin, span_of(taps_x_), span_of(taps_y_)};
}

std::uint64_t ImageStages::decode_memory() const {
  const Rect stored = stored_window(window(), facts_.width, facts_.height, orientation_);
  return stoker::decode_memory(facts_, stored);
}

ResampleSource ImageStages::decode() {
  const Rect upright = window();
  const Rect stored = stored_window(upright, facts_.width, facts_.height, orientation_);
  return {oriented(decoder_.decode_rgb(encoded_, facts_, stored), orientation_), upright.x, upright.y};
}

void ImageStages::geometry(const ResampleSource& decoded, MutableImageView out) {
  assert(out.width == map_.width() && out.height == map_.height());
  resampler_.resample(decoded, taps_x_, taps_y_, map_.fill, out);
}

void ImageStages::color(ImageView resized, std::uint8_t* out) const {
  convert_pixels(resized, program_->color, program_->format, out);
}

void ImageStages::transform(const ResampleSource& decoded, std::uint8_t* out) {
  resampler_.resample_converted(decoded, taps_x_, taps_y_, map_.fill, program_->color, program_->format, out);
}

std::vector<OutputSpec> CpuExecutor::shapes(const SampleInput& sample) {
  std::vector<OutputSpec> specs;
  for (const ViewPlan& view : plan_.views()) {
    if (view.kind != ViewKind::kImage) {
      specs.push_back(Plan::scalar_output(view));
    } else {
      StageOutputs::Tensor tensor =
          stages_->begin(view, sample.fields[static_cast<std::size_t>(view.field)], sample.draw).color;
      specs.push_back({view.name, tensor.dtype, tensor.shape});
    }
  }
  return specs;
}

void CpuExecutor::ask_gate(const SampleInput& sample) {
  std::uint64_t most = 0;
  for (const ViewPlan& view : plan_.views()) {
    if (view.kind != ViewKind::kImage) continue;
    stages_->begin(view, sample.fields[static_cast<std::size_t>(view.field)], sample.draw);
    most = std::max(most, stages_->decode_memory());
  }
  gate_->enter(most);
}

void CpuExecutor::run(const SampleInput& sample, std::span<const MutableBytes> outputs) {
  assert(outputs.size() == plan_.views().size());
  // With one image its header is read once; with several their memory is one, and is asked for at once.
  const bool several = image_views_ > 1;
  if (gate_ && several) ask_gate(sample);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const ViewPlan& view = plan_.views()[i];
    if (view.kind != ViewKind::kImage) {
      write_scalar(view, sample, outputs[i]);
      continue;
    }
    const std::int64_t started = now_ns();
    [[maybe_unused]] const StageOutputs stages =
        stages_->begin(view, sample.fields[static_cast<std::size_t>(view.field)], sample.draw);
    assert(stages.color.bytes() == outputs[i].size());
    if (gate_ && !several) gate_->enter(stages_->decode_memory());
    const ResampleSource decoded = stages_->decode();
    const std::int64_t decoded_at = now_ns();
    stages_->transform(decoded, outputs[i].data());
    times_.decode_ns += decoded_at - started;
    times_.transform_ns += now_ns() - decoded_at;
  }
}

}  // namespace stoker
