// What functions of the user's took of other processes' cores, which this process's CPU time does not include.
#pragma once

#include <algorithm>

#include "stoker/plan/plan.h"
#include "stoker/runtime/report/metrics_window.h"

namespace stoker {

/// Seconds. Each process works while its worker waits, one sample at a time. A recipe that has functions of both kinds
/// counts as one whose functions are all in this process: its metrics do not tell them apart.
inline double seconds_elsewhere(const Plan& plan, const MetricsWindow& window) {
  const bool all_elsewhere = std::all_of(
      plan.functions().begin(), plan.functions().end(),
      [](const FunctionPlan& function) { return function.spec.library.empty() || function.spec.is_isolated; });
  return all_elsewhere ? window.seconds_of(Metric::kFunctionInsideNs) : 0;
}

}  // namespace stoker
