// What one core makes of a data set by a recipe, and what that costs: measured on the very path that a run takes, a
// loader's, with its entry points, fused stages, checks and batches. The seconds are those of the processor, so that
// other cores and what else they do make no difference.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "stoker/runtime/probe/stage_probe.h"
#include "stoker/runtime/samples/sample_trials.h"

namespace stoker {

struct CoreProbeOptions {
  std::uint64_t seed = 0;
  int batch = 256;  // at most: of images that take long there are smaller ones
  std::optional<int> prefetch{};
  BadSlotPolicy bad_sample = BadSlotPolicy::kSubstitute;
  DecodeLimits limits{};
  /// Told after each sample how many there have been, of so many at most.
  std::function<void(std::int64_t done, std::int64_t total)> progress{};
};

/// Of one sample, on average.
struct CoreCosts {
  /// One per stage of the plan. What a loader runs as one (geometry and color, and a stage of several views) is divided
  /// as it takes apart.
  std::vector<StageCost> stages;
  double cpu_us = 0;         // of all that is done for it: stages, reading, checking, batches
  double samples_per_s = 0;  // of one core, therefore
  double indexed = 0;        // images decoded by entry points of an index
  TriedSamples samples;      // that it was measured on
};

/// It takes about two seconds, and longer for images that take longer than a second each. Throws as try_samples does,
/// and kMemory. The process should do nothing else meanwhile.
CoreCosts measure_core(const std::shared_ptr<const Dataset>& dataset, const Plan& plan,
                       const CoreProbeOptions& options);

}  // namespace stoker
