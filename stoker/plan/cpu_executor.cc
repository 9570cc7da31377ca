#include "stoker/plan/cpu_executor.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/plan/field_error.h"

namespace stoker {
namespace {

// in_field() where the view is a picture of its own. What is wrong with objects says so itself.
template <typename Work>
decltype(auto) in_picture(const Plan& plan, const ViewPlan& view, Work&& work) {
  if (view.kind == ViewKind::kMask && !view.mask.of_objects) return in_field(plan, view, std::forward<Work>(work));
  return std::forward<Work>(work)();
}

}  // namespace

// What the images of a sample take: from when on, and what was counted before.
class CpuExecutor::Timer {
 public:
  Timer(ExecutorCounts& counts, const SampleImages& images)
      : counts_(counts), images_(images), before_(images.plane_decodes()), since_ns_(now_ns()) {}

  /// All since the last one was this, of kStageRuns.
  void was(std::size_t run) {
    const std::int64_t now = now_ns();
    counts_.stages_ns[run] += now - std::exchange(since_ns_, now);
  }
  void was_fields() {
    const std::int64_t now = now_ns();
    counts_.fields_ns += now - std::exchange(since_ns_, now);
  }
  /// All since the last one was for functions, so much of it in them.
  void was_functions(std::int64_t inside_ns) {
    const std::int64_t now = now_ns();
    counts_.function_ns += now - std::exchange(since_ns_, now);
    counts_.function_inside_ns += inside_ns;
  }
  /// So much of it was waiting.
  void waited(std::int64_t ns) {
    counts_.memory_wait_ns += ns;
    since_ns_ += ns;
  }
  ~Timer() {
    const PlaneDecodes after = images_.plane_decodes();
    counts_.jpeg_fallbacks += after.by_library - before_.by_library;
    counts_.entry_points_used += after.by_entry_points - before_.by_entry_points;
  }

 private:
  ExecutorCounts& counts_;
  const SampleImages& images_;
  const PlaneDecodes before_;
  std::int64_t since_ns_;
};

// Lays out the work of all images, and waits for the memory that they take.
void CpuExecutor::begin(const SampleInput& sample, bool for_device, Timer& timer) {
  images_->begin(sample, for_device);
  if (gate_ && !images_->decodes().empty())
    timer.waited(gate_->enter(images_->memory() + companion_memory(sample) + taken_memory()));
}

// Of images as functions take them: here, and in the process that gets them.
std::uint64_t CpuExecutor::taken_memory() const {
  std::uint64_t bytes = 0;
  for (std::size_t view = plan_.output_count(); view < plan_.views().size(); ++view) {
    if (plan_.views()[view].kind == ViewKind::kImage) bytes += 2 * images_->stages(view).outputs().color.bytes();
  }
  return bytes;
}

void CpuExecutor::call_functions(const SampleInput& sample, const OutputPlaces& place, Timer& timer) {
  if (functions_.empty()) return;
  const std::int64_t before_ns = functions_.inside_ns();
  functions_.run(sample.draw, place);
  timer.was_functions(functions_.inside_ns() - before_ns);
}

// One after another.
std::uint64_t CpuExecutor::companion_memory(const SampleInput& sample) const {
  std::uint64_t most = 0;
  for (const ViewPlan& view : plan_.views()) {
    if (!view.goes_along()) continue;
    most = std::max(most, in_picture(plan_, view, [&] { return companions_->memory(view, sample.fields); }));
  }
  return most;
}

// What goes along with images, once it is drawn where these go.
void CpuExecutor::write_companions(const SampleInput& sample, const OutputPlaces& place, Timer& timer) {
  bool any = false;
  companions_->begin();
  for (std::size_t i = 0; i < plan_.views().size(); ++i) {
    const ViewPlan& view = plan_.views()[i];
    if (!view.goes_along()) continue;
    any = true;
    in_picture(plan_, view, [&] {
      companions_->write(view, sample.fields, images_->stages(view.like).course(),
                         [&](const Shape& shape) { return place(i, shape); });
    });
  }
  if (any) timer.was(stage_run(StageSide::kCpu, Stage::kGeometry, Stage::kColor));
}

// Before the images: a sample that turns out to be bad by a number has had no memory or room for them.
void CpuExecutor::write_plain_views(const SampleInput& sample, const OutputPlaces& place, Timer& timer) const {
  bool any = false;
  for (std::size_t i = 0; i < plan_.views().size(); ++i) {
    const ViewPlan& view = plan_.views()[i];
    if (!view.is_plain()) continue;
    any |= view.field >= 0;  // a label costs less than to read the clock
    write_plain(view, sample, [&](const Shape& shape) { return place(i, shape); });
  }
  if (any) timer.was_fields();
}

void CpuExecutor::decode(const SharedDecode& decode, Timer& timer) {
  images_->decode(decode);
  timer.was(stage_run(StageSide::kCpu, Stage::kDecode));
}

void CpuExecutor::run(const SampleInput& sample, const OutputPlaces& outputs) {
  const auto place = [&](std::size_t view, const Shape& shape) { return functions_.place(view, shape, outputs); };
  functions_.begin();
  Timer timer(counts_, *images_);
  write_plain_views(sample, place, timer);
  begin(sample, false, timer);
  write_companions(sample, place, timer);
  for (const SharedDecode& decode : images_->decodes()) write_tensors(decode, place, timer);
  call_functions(sample, outputs, timer);
}

void CpuExecutor::write_tensors(const SharedDecode& shared, const OutputPlaces& place, Timer& timer) {
  decode(shared, timer);
  for (const std::size_t view : shared.views) {
    ImageStages& stages = images_->stages(view);
    const StageTensor& tensor = stages.outputs().color;
    const MutableBytes out = place(view, tensor.shape);
    assert(tensor.bytes() == out.size());
    stages.transform(out.data());
  }
  timer.was(stage_run(StageSide::kCpu, Stage::kGeometry, Stage::kColor));
}

void CpuExecutor::run_batch(const WholeBatch& batch) {
  const std::int64_t inside_before_ns = functions_.inside_ns(), began = now_ns();
  functions_.run_batch(batch);
  counts_.function_ns += now_ns() - began;
  counts_.function_inside_ns += functions_.inside_ns() - inside_before_ns;
}

void CpuExecutor::run(const SampleInput& sample, DeviceBatch& batch, int slot, const OutputPlaces& kept) {
  const OutputPlaces outputs = [&](std::size_t view, const Shape& shape) {
    return view < plan_.output_count() ? batch.place(view, slot, shape) : kept(view, shape);
  };
  const auto place = [&](std::size_t view, const Shape& shape) { return functions_.place(view, shape, outputs); };
  functions_.begin();
  Timer timer(counts_, *images_);
  write_plain_views(sample, place, timer);
  begin(sample, batch.crosses_as() != ImageForm::kFinished, timer);
  write_companions(sample, place, timer);
  for (const SharedDecode& decode : images_->decodes()) {
    if (batch.crosses_as() == ImageForm::kFinished || decode.views.front() >= plan_.output_count()) {
      write_tensors(decode, place, timer);
    } else {
      hand_over(decode, sample, batch, slot, timer);
    }
  }
  call_functions(sample, outputs, timer);
}

bool CpuExecutor::hand_over_coded(const SharedDecode& shared, bool has_faults, const DeviceBatch& batch,
                                  DeviceBatch::Room& room) {
  if (batch.crosses_as() != ImageForm::kCoded) return false;
  if (images_->hand_over_coded(shared, room, items_)) {
    ++counts_.entry_points_used;
    return true;
  }
  // How a fault is concealed is for libjpeg to say.
  if (!batch.leaves_to_nvjpeg() || has_faults || !images_->hand_over_file(shared, room, items_)) return false;
  ++counts_.nvjpeg_images;
  return true;
}

void CpuExecutor::hand_over(const SharedDecode& shared, const SampleInput& sample, DeviceBatch& batch, int slot,
                            Timer& timer) {
  DeviceBatch::Room room(batch, shared.views, slot);
  const bool coded = hand_over_coded(shared, sample.has_faults, batch, room);
  if (!coded) decode(shared, timer);
  if (coded || (batch.crosses_as() <= ImageForm::kDecoded && images_->hand_over_decoded(shared, room, items_))) {
    timer.was(kHandOver);
  } else {
    for (std::size_t i = 0; i < shared.views.size(); ++i) {
      PixelPath& path = *shared.paths[i];
      const DeviceGrant grant = batch.grant_resized(shared.views[i], slot);
      path.geometry(path.resized_view(grant.staging));
      items_[i] = DeviceResized{.samples = grant.place, .slot = slot, .kind = path.resized_kind()};
    }
    timer.was(stage_run(StageSide::kCpu, Stage::kGeometry));
  }
  for (std::size_t i = 0; i < shared.views.size(); ++i) {
    const std::size_t view = shared.views[i];
    batch.put(view, slot, items_[i], sample.draw, images_->stages(view).first_steps());
  }
}

}  // namespace stoker
