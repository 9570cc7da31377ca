// The fast executor: decodes only the window that the crop needs, and resamples, converts and lays out in one pass.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "stoker/plan/device_batch.h"
#include "stoker/plan/image_stages.h"
#include "stoker/plan/sample_executor.h"

namespace stoker {

/// What was done so far, and how long it took.
struct ExecutorCounts {
  StageTimes stages_ns{};
  std::int64_t memory_wait_ns = 0;     // for the gate
  std::int64_t entry_points_used = 0;  // images decoded by them, here or on a device
  std::int64_t nvjpeg_images = 0;      // images left to nvJPEG
  std::int64_t jpeg_fallbacks = 0;     // images whose planes Stoker's own decoder left to libjpeg
};

class CpuExecutor final : public SampleExecutor {
 public:
  /// `gate` is asked before images are decoded, once per sample; null: nobody minds.
  explicit CpuExecutor(const Plan& plan, DecodeLimits limits = {}, MemoryGate* gate = nullptr)
      : SampleExecutor(plan),
        limits_(limits),
        gate_(gate),
        image_views_(std::count_if(plan.views().begin(), plan.views().end(),
                                   [](const ViewPlan& view) { return view.kind == ViewKind::kImage; })),
        stages_(std::make_unique<ImageStages>(limits)) {}

  void run(const SampleInput& sample, const OutputPlaces& place) override;
  /// Only the stages before the batch's transfer index: fills a slot of it. May be called again for a slot, with
  /// another sample, when it has thrown.
  void run(const SampleInput& sample, DeviceBatch& batch, int slot);

  /// Gives back the scratch memory that was taken for the largest image so far.
  void drop_scratch() { stages_ = std::make_unique<ImageStages>(limits_); }

  const ExecutorCounts& counts() const { return counts_; }

 private:
  class Timer;

  void ask_gate(const SampleInput& sample);
  void enter_gate(Timer& timer);
  void write_tensor(std::size_t view, const SampleInput& sample, const OutputPlaces& place);
  bool hand_over_coded(const SampleInput& sample, const DeviceBatch& batch, DeviceBatch::Room& room, DeviceItem& item);
  void hand_over(std::size_t view, const SampleInput& sample, DeviceBatch& batch, int slot);
  StageOutputs begin(const ViewPlan& view, const SampleInput& sample);

  const DecodeLimits limits_;
  MemoryGate* const gate_;
  const std::ptrdiff_t image_views_;
  std::unique_ptr<ImageStages> stages_;
  ExecutorCounts counts_;
};

}  // namespace stoker
