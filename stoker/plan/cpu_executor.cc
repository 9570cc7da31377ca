#include "stoker/plan/cpu_executor.h"

#include <algorithm>
#include <cassert>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"

namespace stoker {

StageOutputs CpuExecutor::begin(const ViewPlan& view, const SampleInput& sample) {
  return stages_->begin(view, sample.fields[static_cast<std::size_t>(view.field)], sample.draw,
                        view.field == sample.entry_points_of ? sample.entry_points : Bytes());
}

std::vector<OutputSpec> CpuExecutor::shapes(const SampleInput& sample) {
  std::vector<OutputSpec> specs;
  for (const ViewPlan& view : plan_.views()) {
    if (view.kind != ViewKind::kImage) {
      specs.push_back(Plan::scalar_output(view));
    } else {
      const StageTensor tensor = begin(view, sample).color;
      specs.push_back({view.name, tensor.dtype, tensor.shape});
    }
  }
  return specs;
}

void CpuExecutor::ask_gate(const SampleInput& sample) {
  std::uint64_t most = 0;
  for (const ViewPlan& view : plan_.views()) {
    if (view.kind != ViewKind::kImage) continue;
    begin(view, sample);
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
    [[maybe_unused]] const StageOutputs stages = begin(view, sample);
    assert(stages.color.bytes() == outputs[i].size());
    if (gate_ && !several) gate_->enter(stages_->decode_memory());
    const PlaneDecodes before = stages_->plane_decodes();
    stages_->decode();
    const std::int64_t decoded_at = now_ns();
    stages_->transform(outputs[i].data());
    const PlaneDecodes after = stages_->plane_decodes();
    counts_.jpeg_fallbacks += after.by_library - before.by_library;
    counts_.entry_points_used += after.by_entry_points - before.by_entry_points;
    counts_.decode_ns += decoded_at - started;
    counts_.transform_ns += now_ns() - decoded_at;
  }
}

}  // namespace stoker
