// Selects the knobs of a loader to tune, and their limits.
#pragma once

#include <optional>

#include "stoker/format/dataset.h"
#include "stoker/plan/plan.h"
#include "stoker/runtime/engine/memory_plan.h"
#include "stoker/runtime/resolved_options.h"
#include "stoker/runtime/tuning/self_tuning.h"

namespace stoker {

/// nullopt if nothing is.
std::optional<SelfTuningOptions> tuning_options(const Dataset& dataset, const Plan& plan,
                                                const ResolvedOptions& options, const MemoryPlan& memory);

}  // namespace stoker
