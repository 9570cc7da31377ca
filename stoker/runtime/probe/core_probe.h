// The rate of one core for a data set and a recipe, and the costs: measured on the path of a run, with a loader and its
// entry points, fused stages, checks and batches. Times are CPU times, so that other cores and other work make no
// difference.
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
  int batch = 256;  // at most: batches of slow images are smaller
  std::optional<int> prefetch{};
  BadSlotPolicy bad_sample = BadSlotPolicy::kSubstitute;
  DecodeLimits limits{};
  bool tries_index = false;  // finds CoreCosts::indexed_decode
  /// Called after each sample with the number so far and the most there may be.
  std::function<void(std::int64_t done, std::int64_t total)> progress{};
};

/// Of one sample, on average.
struct CoreCosts {
  /// One per stage of the plan. The cost of stages that a loader fuses (geometry and color, and a stage of several
  /// views) is divided in proportion to their costs when run separately.
  std::vector<StageCost> stages;
  double cpu_us = 0;              // of all work for it: stages, reading, checking, batches
  double samples_per_s = 0;       // of one core, from cpu_us
  double indexed = 0;             // images decoded by entry points of an index
  double indexed_decode = 0;      // what decoding would take with entry points, of what it takes without; 0: not known
  std::vector<double> each_us{};  // of some samples, in the order of the epoch; their mean is cpu_us
  TriedSamples samples;           // that it was measured on
};

/// It takes about two seconds, and longer for images that take longer than a second each. Throws as try_samples does,
/// and kMemory. The process should do nothing else meanwhile.
CoreCosts measure_core(const std::shared_ptr<const Dataset>& dataset, const Plan& plan,
                       const CoreProbeOptions& options);

}  // namespace stoker
