#include "stoker/plan/cpu_executor.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"

namespace stoker {

StageOutputs CpuExecutor::begin(const ViewPlan& view, const SampleInput& sample) {
  return stages_->begin(view, sample.fields[static_cast<std::size_t>(view.field)], sample.draw,
                        view.field == sample.entry_points_of ? sample.entry_points : Bytes());
}

void CpuExecutor::ask_gate(const SampleInput& sample) {
  std::uint64_t most = 0;
  for (const ViewPlan& view : plan_.views()) {
    if (view.kind != ViewKind::kImage) continue;
    begin(view, sample);
    most = std::max(most, stages_->memory());
  }
  counts_.memory_wait_ns += gate_->enter(most);
}

// What one view of images takes: from when on, and what was counted before.
class CpuExecutor::Timer {
 public:
  Timer(ExecutorCounts& counts, const ImageStages& stages)
      : counts_(counts), stages_(stages), before_(stages.plane_decodes()), since_ns_(now_ns()) {}

  /// All since the last one was this, of kStageRuns.
  void was(std::size_t run) {
    const std::int64_t now = now_ns();
    counts_.stages_ns[run] += now - std::exchange(since_ns_, now);
  }
  /// So much of it was waiting.
  void waited(std::int64_t ns) {
    counts_.memory_wait_ns += ns;
    since_ns_ += ns;
  }
  ~Timer() {
    const PlaneDecodes after = stages_.plane_decodes();
    counts_.jpeg_fallbacks += after.by_library - before_.by_library;
    counts_.entry_points_used += after.by_entry_points - before_.by_entry_points;
  }

 private:
  ExecutorCounts& counts_;
  const ImageStages& stages_;
  const PlaneDecodes before_;
  std::int64_t since_ns_;
};

// With one image its header is read once; with several their memory is one, and was asked for at once.
void CpuExecutor::enter_gate(Timer& timer) {
  if (gate_ && image_views_ == 1) timer.waited(gate_->enter(stages_->memory()));
}

void CpuExecutor::run(const SampleInput& sample, const OutputPlaces& place) {
  if (gate_ && image_views_ > 1) ask_gate(sample);
  for (std::size_t i = 0; i < plan_.views().size(); ++i) {
    const ViewPlan& view = plan_.views()[i];
    if (view.kind == ViewKind::kImage) {
      write_tensor(i, sample, place);
    } else {
      write_number(view, sample, place(i, Plan::number_shape_of(view)));
    }
  }
}

void CpuExecutor::write_tensor(std::size_t view, const SampleInput& sample, const OutputPlaces& place) {
  Timer timer(counts_, *stages_);
  const StageTensor tensor = begin(plan_.views()[view], sample).color;
  const MutableBytes out = place(view, tensor.shape);
  assert(tensor.bytes() == out.size());
  enter_gate(timer);
  stages_->path().decode();
  timer.was(stage_run(StageSide::kCpu, Stage::kDecode));
  stages_->transform(out.data());
  timer.was(stage_run(StageSide::kCpu, Stage::kGeometry, Stage::kColor));
}

void CpuExecutor::run(const SampleInput& sample, DeviceBatch& batch, int slot) {
  if (gate_ && image_views_ > 1) ask_gate(sample);
  const auto place = [&batch, slot](std::size_t view, const Shape& shape) { return batch.place(view, slot, shape); };
  // Numbers first: a sample that turns out to be bad by them has had no room for its image.
  for (std::size_t i = 0; i < plan_.views().size(); ++i) {
    const ViewPlan& view = plan_.views()[i];
    if (view.kind != ViewKind::kImage) write_number(view, sample, place(i, Plan::number_shape_of(view)));
  }
  for (std::size_t i = 0; i < plan_.views().size(); ++i) {
    const ViewPlan& view = plan_.views()[i];
    if (view.kind != ViewKind::kImage) continue;
    if (batch.crosses_finished(i)) {
      write_tensor(i, sample, place);
    } else {
      hand_over(i, sample, batch, slot);
    }
  }
}

bool CpuExecutor::hand_over_coded(const SampleInput& sample, const DeviceBatch& batch, DeviceBatch::Room& room,
                                  DeviceItem& item) {
  if (batch.crosses_as() != ImageForm::kCoded) return false;
  if (stages_->path().hand_over_coded(room, item)) {
    ++counts_.entry_points_used;
    return true;
  }
  // How a fault is concealed is for libjpeg to say.
  if (!batch.leaves_to_nvjpeg() || sample.has_faults || !stages_->path().hand_over_file(room, item)) return false;
  ++counts_.nvjpeg_images;
  return true;
}

void CpuExecutor::hand_over(std::size_t view, const SampleInput& sample, DeviceBatch& batch, int slot) {
  Timer timer(counts_, *stages_);
  begin(plan_.views()[view], sample);
  enter_gate(timer);
  DeviceBatch::Room room(batch, view, slot);
  DeviceItem item;
  const bool coded = hand_over_coded(sample, batch, room, item);
  if (!coded) {
    stages_->path().decode();
    timer.was(stage_run(StageSide::kCpu, Stage::kDecode));
  }
  if (coded || (batch.crosses_as() <= ImageForm::kDecoded && stages_->path().hand_over_decoded(room, item))) {
    timer.was(kHandOver);
  } else {
    const DeviceGrant grant = batch.grant_resized(view, slot);
    stages_->path().geometry(stages_->path().resized_view(grant.staging));
    item = DeviceResized{.samples = grant.place, .slot = slot, .kind = stages_->path().resized_kind()};
    timer.was(stage_run(StageSide::kCpu, Stage::kGeometry));
  }
  batch.put(view, slot, item, sample.draw);
}

}  // namespace stoker
