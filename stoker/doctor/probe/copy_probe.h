// The way to a device: how fast copies are, and what crosses at each transfer index.
#pragma once

#include <span>

#include "stoker/doctor/facts.h"
#include "stoker/doctor/probe/probe_limits.h"
#include "stoker/format/dataset.h"
#include "stoker/plan/plan.h"
#include "stoker/runtime/loader_options.h"

namespace stoker {

/// Empty if the options name no device. `samples`: good ones. `gpus`: that will be fed at once, as far as there are so
/// many. Throws kMemory.
CopyFacts probe_copy(const Dataset& dataset, const Plan& plan, const LoaderOptions& loader,
                     std::span<const std::int64_t> samples, int gpus, const ProbeLimits& limits);

}  // namespace stoker
