// How busy an accelerator was, as MLPerf Storage reckons it: its AU, for "accelerator utilization".
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace stoker {

/// An epoch, or as much of it as was run.
struct EpochSteps {
  std::int64_t steps = 0, samples = 0;
  double seconds = 0;  // from the epoch's start to the end of its last step
  /// AU: 100 * (the nominal seconds of all steps but the first) / (the time from the end of the first step to the end
  /// of the last). The first step is left out, since it waits for a loader that starts. It ends by the accelerator's
  /// own time, and the last one when the process knows it: a process that wakes up late never gains by it. Nothing for
  /// fewer than two steps.
  std::optional<double> utilisation_percent{};

  double samples_per_s() const { return seconds > 0 ? static_cast<double>(samples) / seconds : 0; }
};

/// Of a step: by the accelerator's own time, and when the process woke up. base/clock.h's.
struct StepEnd {
  std::int64_t nominal_ns = 0, real_ns = 0;
};

/// Threads: one.
class StepLog {
 public:
  /// `step_seconds`: what a step takes by its profile. What else passes, such as the wait for a late batch, counts as
  /// time that was lost.
  explicit StepLog(double step_seconds) : step_seconds_(step_seconds) {}

  /// When the accelerator is free for the epoch's first step.
  void start_epoch(std::int64_t at_ns);
  void end_step(std::int64_t samples, const StepEnd& end);

  const std::vector<EpochSteps>& epochs() const { return epochs_; }

 private:
  double step_seconds_;
  std::vector<EpochSteps> epochs_;
  std::int64_t began_ns_ = 0, first_ended_ns_ = 0;  // of the epoch at hand
};

}  // namespace stoker
