// How fast the cores of this process copy memory, all together.
#pragma once

#include "stoker/doctor/facts.h"
#include "stoker/doctor/probe/probe_limits.h"

namespace stoker {

/// Bytes that are copied, each of which is read and written. Unknown where there is no memory for it.
Figure probe_memory(double cores, const ProbeLimits& limits);

}  // namespace stoker
