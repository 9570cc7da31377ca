// Takes samples through the stages of a plan one by one, each stage alone, to divide a loader's time, which covers
// several stages together, among them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "stoker/plan/image_stages.h"
#include "stoker/plan/plan.h"
#include "stoker/plan/sample_executor.h"

namespace stoker {

/// Of one sample, on average.
struct StageCost {
  double cpu_us = 0;
  double bytes_out = 0;
};

class StageProbe {
 public:
  /// The plan must outlive it.
  explicit StageProbe(const Plan& plan, const DecodeLimits& limits = {});
  ~StageProbe();

  /// Throws what an executor throws; the sample is not counted then.
  void measure(const SampleInput& sample);
  /// One per stage of the plan, from the samples measured so far. Geometry and color take longer alone than fused.
  std::vector<StageCost> costs() const;
  /// The images that were decoded by entry points.
  double indexed() const;
  /// The total time of the last sample.
  std::int64_t last_ns() const { return last_ns_; }

 private:
  class View;
  const Plan& plan_;
  std::vector<std::unique_ptr<View>> views_;  // those that are images
  std::int64_t last_ns_ = 0;
  std::vector<std::uint8_t> number_;
};

}  // namespace stoker
