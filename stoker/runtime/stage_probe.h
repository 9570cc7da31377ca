// Measures what each stage of a plan costs on samples of the data itself: one thread, one sample at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "stoker/format/dataset.h"
#include "stoker/plan/plan.h"

namespace stoker {

struct StageCost {
  double cpu_us = 0;     // the median over the samples
  double bytes_out = 0;  // the mean
};

/// One per stage of the plan. `samples` must not be empty; `measured` is told after each how many there have been.
/// Throws what reading or decoding a sample throws, naming it.
std::vector<StageCost> measure_stages(const Dataset& dataset, const Plan& plan,
                                      const std::vector<std::int64_t>& samples, std::uint64_t seed,
                                      const std::function<void(std::int64_t)>& measured);

}  // namespace stoker
