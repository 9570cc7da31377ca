// What the model says of a configuration: the rate, what limits it, and how idle that leaves the GPUs.
#pragma once

#include <vector>

#include "stoker/runtime/report/limiter.h"

namespace stoker {

struct Prediction {
  double samples_per_s = 0;              // of the node
  double samples_per_s_needed = 0;       // that its GPUs take
  double gpu_idle = 0;                   // share of their time, stragglers included
  double error = 0;                      // relative, of samples_per_s, as the figures it is made of vary
  std::vector<Limit> limits{};           // ascending: the first is the bottleneck; all that are known
  double first_epoch_samples_per_s = 0;  // while caches fill
  double miss_share = 1;                 // of later epochs' samples, that come from storage

  const Limit& bottleneck() const { return limits.front(); }
};

}  // namespace stoker
