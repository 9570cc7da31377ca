// Converts the costs of stages from probes and metrics to the tuner's terms: the tuner knows each stage separately,
// whereas a loader fuses some.
#pragma once

#include <span>
#include <vector>

#include "stoker/runtime/probe/crossing_probe.h"
#include "stoker/runtime/report/metrics_window.h"
#include "stoker/tuner/tuned_workload.h"
#include "stoker/tuner/tuner_window.h"

namespace stoker {

/// Sets the stages' costs from measurements at every transfer index.
void set_costs(std::span<const CrossingCost> crossings, TunedWorkload& workload);
/// Sets them from a window at one index, in which this many samples were made: valid for that index only.
void set_costs(const MetricsWindow& metrics, double samples, int transfer_index, TunedWorkload& workload);

/// The busy time of stages in a window at this index. The time of fused stages is divided in proportion to their costs
/// in the workload.
std::vector<TunerWindow::Stage> busy_stages(const MetricsWindow& metrics, int transfer_index,
                                            const TunedWorkload& workload);

}  // namespace stoker
