// The fast executor: decodes only the window that the crops need, and resamples, converts and lays out in one pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "stoker/plan/companion_stage.h"
#include "stoker/plan/device_batch.h"
#include "stoker/plan/sample_executor.h"
#include "stoker/plan/sample_images.h"

namespace stoker {

/// What was done so far, and how long it took.
struct ExecutorCounts {
  StageTimes stages_ns{};
  std::int64_t fields_ns = 0;           // for outputs that are made of no image
  std::int64_t memory_wait_ns = 0;      // for the gate
  std::int64_t entry_points_used = 0;   // images decoded by them, here or on a device
  std::int64_t nvjpeg_images = 0;       // images left to nvJPEG
  std::int64_t jpeg_fallbacks = 0;      // JPEGs that Stoker's own decoder left to libjpeg
  std::int64_t function_ns = 0;         // for functions of the user's
  std::int64_t function_inside_ns = 0;  // of that, in the functions themselves
};

class CpuExecutor final : public SampleExecutor {
 public:
  /// `gate` is asked before images are decoded, once per sample; null: there is no gate.
  explicit CpuExecutor(const Plan& plan, DecodeLimits limits = {}, MemoryGate* gate = nullptr)
      : SampleExecutor(plan),
        limits_(limits),
        gate_(gate),
        images_(std::make_unique<SampleImages>(plan, limits)),
        companions_(std::make_unique<CompanionStage>(limits)),
        functions_(plan, gate ? gate->stop() : std::stop_token()),
        items_(plan.views().size()) {}

  void run(const SampleInput& sample, const OutputPlaces& outputs) override;
  /// Only the stages before the batch's transfer index: fills a slot of it, and writes the views that functions of
  /// whole batches take to where `kept` says. May be called again for a slot, with another sample, when it has thrown.
  void run(const SampleInput& sample, DeviceBatch& batch, int slot, const OutputPlaces& kept = {});
  void run_batch(const WholeBatch& batch) override;

  /// Gives back the scratch memory that was taken for the largest image so far.
  void drop_scratch() {
    images_ = std::make_unique<SampleImages>(plan_, limits_);
    companions_ = std::make_unique<CompanionStage>(limits_);
    functions_.drop_scratch();
  }

  const ExecutorCounts& counts() const { return counts_; }

 private:
  class Timer;

  void begin(const SampleInput& sample, bool for_device, Timer& timer);
  void call_functions(const SampleInput& sample, const OutputPlaces& place, Timer& timer);
  void write_plain_views(const SampleInput& sample, const OutputPlaces& place, Timer& timer) const;
  std::uint64_t companion_memory(const SampleInput& sample) const;
  std::uint64_t taken_memory() const;
  void write_companions(const SampleInput& sample, const OutputPlaces& place, Timer& timer);
  void write_tensors(const SharedDecode& shared, const OutputPlaces& place, Timer& timer);
  bool hand_over_coded(const SharedDecode& shared, bool has_faults, const DeviceBatch& batch, DeviceBatch::Room& room);
  void hand_over(const SharedDecode& shared, const SampleInput& sample, DeviceBatch& batch, int slot, Timer& timer);
  void decode(const SharedDecode& decode, Timer& timer);

  const DecodeLimits limits_;
  MemoryGate* const gate_;
  std::unique_ptr<SampleImages> images_;
  std::unique_ptr<CompanionStage> companions_;
  FunctionCalls functions_;
  std::vector<DeviceItem> items_;  // of the views of a decode
  ExecutorCounts counts_;
};

}  // namespace stoker
