// What stages cost, from probes and metrics to the terms of the tuner: it knows each stage on its own, where a loader
// runs some of them as one.
#pragma once

#include <span>
#include <vector>

#include "stoker/runtime/probe/crossing_probe.h"
#include "stoker/runtime/report/metrics_window.h"
#include "stoker/tuner/tuned_workload.h"
#include "stoker/tuner/tuner_window.h"

namespace stoker {

/// Fills in the stages' costs by what was measured at every transfer index.
void set_costs(std::span<const CrossingCost> crossings, TunedWorkload& workload);
/// By what a window at one of them shows, of so many samples that were made in it: right for that index only.
void set_costs(const MetricsWindow& metrics, double samples, int transfer_index, TunedWorkload& workload);

/// How long stages were busy in a window at this index. What was measured of several as one is divided among them as
/// the workload has their costs.
std::vector<TunerWindow::Stage> busy_stages(const MetricsWindow& metrics, int transfer_index,
                                            const TunedWorkload& workload);

}  // namespace stoker
