// A store behind a network, as a loader meets it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/doctor/facts.h"
#include "stoker/doctor/probe/probe_limits.h"
#include "stoker/format/dataset.h"

namespace stoker {

/// Nothing for local data. Throws what reading throws.
std::optional<StoreFacts> probe_object_store(const Dataset& dataset, const ProbeLimits& limits,
                                             std::vector<std::string>& doubts);

}  // namespace stoker
