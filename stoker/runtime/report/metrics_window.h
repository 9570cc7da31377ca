// The difference of two readings of a loader's metrics: rates, shares, means.
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
  std::string_view name;  // of fused stages all names, joined by a plus
  std::string_view side;  // "cpu", "device"
  double seconds = 0;
};

class MetricsWindow {
 public:
  /// From the loader's beginning.
  explicit MetricsWindow(const Metrics& end);
  /// `begin` was read before `end`, of the same loader.
  MetricsWindow(const Metrics& begin, const Metrics& end);

  /// The increase of a counter; the final value of a gauge or knob.
  std::int64_t operator[](Metric metric) const { return values_[static_cast<std::size_t>(metric)]; }
  /// Of a metric in nanoseconds.
  double seconds_of(Metric metric) const { return static_cast<double>((*this)[metric]) * 1e-9; }

  /// Of the wall clock. 0 for a window from the loader's start, which is not known.
  double seconds() const { return seconds_; }
  double samples_per_s() const;

  /// The consumer's wait for batches, in seconds and as a share of the time.
  double wait_s() const { return seconds_of(Metric::kConsumerWaitNs); }
  double wait_share() const;
  /// The mean of the consumer's steps that ended in the window: its time between batches without waiting. Unset if no
  /// step ended.
  std::optional<double> step_s() const;

  /// Stages that ran in the window, in the order in which a sample passes through them.
  std::vector<StageTime> stages() const;

  /// The mean number in a queue; `level_ns` is its counter: kReadNs for kReadsInFlight, kTicketsReadyNs, ...
  double mean(Metric level_ns) const;

 private:
  std::array<std::int64_t, kMetrics> values_;
  double seconds_ = 0;
};

}  // namespace stoker
