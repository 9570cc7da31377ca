#include "stoker/runtime/probe/stage_probe.h"

#include <algorithm>

#include "stoker/base/clock.h"

namespace stoker {

StageProbe::StageProbe(const Plan& plan, const DecodeLimits& limits)
    : plan_(plan), images_(plan, limits), views_(plan.views().size()), companions_(limits), functions_(plan) {}

// Views that share a decode go on from it one after another; it counts as the first one's.
void StageProbe::measure_images(const SampleInput& sample) {
  std::int64_t since_ns = now_ns();
  const auto took_ns = [&] {
    const std::int64_t before_ns = since_ns;
    return (since_ns = now_ns()) - before_ns;
  };
  images_.begin(sample);
  std::int64_t begin_ns = took_ns();
  for (const SharedDecode& decode : images_.decodes()) {
    for (const std::size_t view : decode.views) views_[view].last = {};
    images_.decode(decode);
    ++decoded_;
    View& first = views_[decode.views.front()];
    first.last[0] = {begin_ns + took_ns(), decode.paths.front()->decoded_bytes(decode.paths)};
    begin_ns = 0;
    for (std::size_t i = 0; i < decode.views.size(); ++i) {
      View& view = views_[decode.views[i]];
      PixelPath& path = *decode.paths[i];
      ImageStages& stages = images_.stages(decode.views[i]);
      const StageOutputs& outputs = stages.outputs();
      view.resized.resize(outputs.geometry.bytes());
      view.tensor.resize(outputs.color.bytes());
      const MutableImageView resized = path.resized_view(view.resized.data());
      took_ns();
      path.geometry(resized);
      view.last[1] = {took_ns(), view.resized.size()};
      stages.color(resized, view.tensor.data());
      view.last[2] = {took_ns(), view.tensor.size()};
      if (decode.views[i] < plan_.output_count()) continue;
      const MutableBytes taken = room_for(decode.views[i], outputs.color.shape);
      std::copy(view.tensor.begin(), view.tensor.end(), taken.begin());
      took_ns();
    }
  }
}

// Outputs are dropped, and functions get what they take.
MutableBytes StageProbe::room_for(std::size_t view, const Shape& shape) {
  return functions_.place(view, shape, [&](std::size_t output, const Shape&) -> MutableBytes {
    value_.resize(Plan::output_of(plan_.views()[output], shape).bytes_per_sample());
    return value_;
  });
}

void StageProbe::measure_companions(const SampleInput& sample) {
  companions_.begin();
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const ViewPlan& view = plan_.views()[i];
    if (!view.goes_along()) continue;
    const std::int64_t began = now_ns();
    companions_.write(view, sample.fields, images_.stages(view.like).course(),
                      [&](const Shape& shape) { return room_for(i, shape); });
    views_[view.like].last[1].ns += now_ns() - began;
  }
}

void StageProbe::measure(const SampleInput& sample) {
  const std::int64_t began = now_ns();
  // Numbers cost next to nothing, but a sample may be bad by them.
  functions_.begin();
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const ViewPlan& view = plan_.views()[i];
    if (view.is_plain()) write_plain(view, sample, [&](const Shape& shape) { return room_for(i, shape); });
  }
  measure_images(sample);
  measure_companions(sample);
  functions_.run(sample.draw, [&](std::size_t view, const Shape& shape) { return room_for(view, shape); });
  ++samples_;
  for (View& view : views_) {
    for (std::size_t i = 0; i < kStages.size(); ++i) {
      view.sums[i].ns += view.last[i].ns;
      view.sums[i].bytes_out += view.last[i].bytes_out;
    }
  }
  last_ns_ = now_ns() - began;
}

double StageProbe::indexed() const {
  const std::int64_t by_entry_points = images_.plane_decodes().by_entry_points;
  return decoded_ > 0 ? static_cast<double>(by_entry_points) / static_cast<double>(decoded_) : 0;
}

std::vector<StageCost> StageProbe::costs() const {
  const double samples = static_cast<double>(samples_ > 0 ? samples_ : 1);
  std::vector<StageCost> costs;
  for (std::size_t i = 0; i < plan_.output_count(); ++i) {
    if (plan_.views()[i].kind != ViewKind::kImage) continue;
    for (const Sum& sum : views_[i].sums) {
      costs.push_back({static_cast<double>(sum.ns) * 1e-3 / samples, static_cast<double>(sum.bytes_out) / samples});
    }
  }
  return costs;
}

}  // namespace stoker
