// Collects a consumer's view of a loader while the knobs are unchanged, until the rate is known well enough, and
// computes the rate at which this would continue for ever.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/runtime/engine/batch_period.h"

namespace stoker {

struct TuningWindowLimits {
  std::int64_t seconds_least_ns = 500'000'000;
  std::int64_t seconds_most_ns = 2'000'000'000;  // but for the least number of batches
  int batches_least = 8;
  double error_most = 0.007;  // of the mean period; reached, or the most seconds passed
};

class TuningWindow {
 public:
  explicit TuningWindow(int batch) : batch_(batch) {}

  /// Restarts: the next `skip` batches still belong to the setting before.
  void begin(int skip, const TuningWindowLimits& limits);
  /// Whether the skipped batches have passed, so that counts now belong to the window.
  bool counts() const { return to_skip_ == 0; }
  void add(const BatchPeriod& period);
  bool complete() const;

  /// Of all periods, including those that do not count as steps.
  std::int64_t made() const { return made_; }
  std::int64_t delivered() const { return delivered_; }

  struct Result {
    double samples = 0, seconds = 0, wait_s = 0, step_s = 0;  // as TunerWindow has them
  };
  /// Steps that took much longer than others, because the consumer saved or evaluated something, do not count. Of
  /// batches made before the window and consumed in it, only as many count as were made in it.
  Result result() const;

 private:
  bool is_pause(const BatchPeriod& period, std::int64_t middle_step_ns) const;
  std::int64_t middle_step_ns() const;
  double mean_error() const;

  const int batch_;
  TuningWindowLimits limits_;
  int to_skip_ = 0;
  std::int64_t made_ = 0, delivered_ = 0;
  std::int64_t seconds_ns_ = 0;  // of periods_
  std::vector<BatchPeriod> periods_;
  // Of periods_ in pairs, and of their squares.
  double pairs_sum_ = 0, pairs_squares_ = 0;
};

}  // namespace stoker
