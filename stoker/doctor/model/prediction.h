// What the model says of a configuration: the rate, what limits it, and how idle that leaves the GPUs.
#pragma once

#include <string>
#include <vector>

#include "stoker/runtime/report/limiter.h"

namespace stoker {

struct Prediction {
  double samples_per_s = 0;                // of the node
  double samples_per_s_needed = 0;         // that its GPUs take
  double gpu_idle = 0;                     // share of their time, stragglers included
  double error = 0;                        // relative, of samples_per_s, as the figures it is made of vary
  std::vector<Limit> limits{};             // ascending: the first is the bottleneck; all that are known
  double first_epoch_samples_per_s = 0;    // while caches fill
  double miss_share = 1;                   // of later epochs' samples, that come from storage
  double wait_s_p50 = 0, wait_s_p95 = 0;   // of a step for its batch
  std::vector<std::string> assumptions{};  // sentences: what was not measured for it, and what was taken instead

  const Limit& bottleneck() const { return limits.front(); }
};

}  // namespace stoker
