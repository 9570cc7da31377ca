// How fast the cores of this process copy memory, all together: whatever a quota or other programs keep from them.
#pragma once

#include "stoker/doctor/facts.h"
#include "stoker/doctor/probe/probe_limits.h"

namespace stoker {

/// Bytes that are copied, each of which is read and written. Unknown where there is no memory for it.
MemoryFacts probe_memory(const ProbeLimits& limits);

}  // namespace stoker
