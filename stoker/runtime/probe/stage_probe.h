// Takes samples through the stages of a plan one after the other, each apart: how a loader's time, which is of several
// stages together, is divided among them.
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
  /// One per stage of the plan, of what was measured so far. Geometry and color take longer so than fused.
  std::vector<StageCost> costs() const;
  /// Of the images, those that were decoded by entry points.
  double indexed() const;
  /// How long the last sample took in all.
  std::int64_t last_ns() const { return last_ns_; }

 private:
  class View;
  const Plan& plan_;
  std::vector<std::unique_ptr<View>> views_;  // those that are images
  std::int64_t last_ns_ = 0;
};

}  // namespace stoker
