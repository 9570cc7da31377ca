// An emulated training step: takes a batch for a given time and does nothing with it. It waits to absolute deadlines,
// so that the scheduler's delays do not add up, and sleeps, so that it leaves the cores to the loader.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "stoker/device/accelerator_profiles.h"

namespace stoker {

/// The seconds one step takes for `batch` samples: `text` is a number of seconds, or a profile's name, whose time
/// scales with the batch. Throws kUsage, suggesting the nearest name.
double accelerator_step_seconds(std::string_view text, int batch);

/// Returns once base/clock.h has reached `deadline_ns`, or throws, which ends the step it is part of.
using WaitUntil = std::function<void(std::int64_t deadline_ns)>;

/// Sleeps; signals do not end it early.
void sleep_until(std::int64_t deadline_ns);

class EmulatedAccelerator {
 public:
  /// `wait_until` is how the steps pass: a caller that ends them early, or does not wait at all, gives its own.
  explicit EmulatedAccelerator(double seconds_per_step, WaitUntil wait_until = sleep_until);

  /// Runs a step on a batch that became ready at `ready_ns` (base/clock.h); returns when the step has ended. The step
  /// begins when both the batch and the accelerator are there, however late the caller is.
  void step(std::int64_t ready_ns);

  /// When the last step ended by its own time, which is before step() returned; nothing before the first.
  std::optional<std::int64_t> free_at_ns() const { return free_at_ns_; }
  /// Since the first batch became ready: computing, and waiting for batches in between.
  double busy_s() const;
  double wait_s() const;
  /// busy / (busy + wait) from the first batch to the last; 0 before any step.
  double utilisation() const;

 private:
  std::int64_t step_ns_;
  WaitUntil wait_until_;
  std::optional<std::int64_t> free_at_ns_;  // when the last step ends
  std::int64_t busy_ns_ = 0, wait_ns_ = 0;
};

}  // namespace stoker
