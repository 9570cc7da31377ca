// What is done to a whole batch when all its slots are written and before it is delivered. Crossing to a device is the
// last such step.
#pragma once

#include <memory>
#include <vector>

#include "stoker/runtime/board/loader_batch.h"
#include "stoker/runtime/report/metric_counters.h"

namespace stoker {

class BatchStep {
 public:
  virtual ~BatchStep() = default;

  /// Gets batches in order, one at a time, from any worker, which does not hold the loader's lock. What it throws
  /// becomes the batch's error; the steps after it are left out then.
  virtual void run(LoaderBatch& batch) = 0;
};

/// The steps of a loader's batches, in order; none for dense outputs where there is no device. The metrics must outlive
/// them.
std::vector<std::unique_ptr<BatchStep>> batch_steps(const std::vector<OutputSpec>& outputs, const Device* device,
                                                    MetricCounters& metrics);

}  // namespace stoker
