// Takes samples through the stages of a plan one by one, each stage alone, to divide a loader's time, which covers
// several stages together, among them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "stoker/plan/companion_stage.h"
#include "stoker/plan/function_calls.h"
#include "stoker/plan/plan.h"
#include "stoker/plan/sample_executor.h"
#include "stoker/plan/sample_images.h"

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

  /// Throws what an executor throws; the sample is not counted then.
  void measure(const SampleInput& sample);
  /// One per stage of the plan, from the samples measured so far. A decode for several views counts as the first one's,
  /// and what goes along with an image as its geometry.
  /// Geometry and color take longer alone than fused.
  std::vector<StageCost> costs() const;
  /// The images that were decoded by entry points.
  double indexed() const;
  /// The total time of the last sample.
  std::int64_t last_ns() const { return last_ns_; }

 private:
  struct Sum {
    std::int64_t ns = 0;
    std::size_t bytes_out = 0;
  };
  struct View {
    std::vector<std::uint8_t> resized, tensor;
    std::array<Sum, kStages.size()> last{}, sums{};
  };

  void measure_images(const SampleInput& sample);
  void measure_companions(const SampleInput& sample);
  MutableBytes room_for(std::size_t view, const Shape& shape);

  const Plan& plan_;
  SampleImages images_;
  std::vector<View> views_;  // by view of the plan
  std::int64_t samples_ = 0, decoded_ = 0, last_ns_ = 0;
  std::vector<std::uint8_t> value_;
  CompanionStage companions_;
  FunctionCalls functions_;
};

}  // namespace stoker
