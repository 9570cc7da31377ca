// What happened between two readings of a loader's metrics: rates, shares, means.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "stoker/runtime/metrics.h"

namespace stoker {

/// How long a stage was at work, on all cores together or on the device.
struct StageTime {
  std::string_view name;  // of stages that ran as one all of them, joined by a plus
  std::string_view side;  // "cpu", "device"
  double seconds = 0;
};

class MetricsWindow {
 public:
  /// From the loader's beginning.
  explicit MetricsWindow(const Metrics& end);
  /// `begin` was read before `end`, of the same loader.
  MetricsWindow(const Metrics& begin, const Metrics& end);

  /// What a counter counted; a gauge or a knob as it stood at the end.
  std::int64_t operator[](Metric metric) const { return values_[static_cast<std::size_t>(metric)]; }
  /// Of a metric in nanoseconds.
  double seconds_of(Metric metric) const { return static_cast<double>((*this)[metric]) * 1e-9; }

  /// Of the wall clock. 0 for a window from the loader's beginning, which nobody saw.
  double seconds() const { return seconds_; }
  double samples_per_s() const;

  /// How long the consumer waited for batches, in seconds and of all the time.
  double wait_s() const { return seconds_of(Metric::kConsumerWaitNs); }
  double wait_share() const;
  /// One of the consumer's steps, on average, that ended in the window: as long as it was at work between batches.
  /// Unset if none did.
  std::optional<double> step_s() const;
  /// Likewise on the GPU, of steps that were timed.
  std::optional<double> device_step_s() const;

  /// Stages that were at work at all, in the order in which a sample goes through them.
  std::vector<StageTime> stages() const;
  /// Of all stages on the CPU together.
  double cpu_busy_s() const;
  /// Of the time that workers had.
  double worker_busy_share() const;

  /// How many there were, on average; `level_ns` is the counter: kReadNs of kReadsInFlight, kTicketsReadyNs, ...
  double mean(Metric level_ns) const;

 private:
  std::array<std::int64_t, kMetrics> values_;
  double seconds_ = 0;
};

}  // namespace stoker
