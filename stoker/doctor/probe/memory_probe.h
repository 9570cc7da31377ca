// How fast the cores of this process copy memory, all together: whatever other programs keep from them.
#pragma once

#include <cstdint>

#include "stoker/doctor/facts.h"
#include "stoker/doctor/probe/probe_limits.h"

namespace stoker {

/// Threads that copy at once, and the cores that their rate stands for.
struct MemoryCopiers {
  int threads = 1, cores = 1;
};

/// For a process with so many cores and so much memory: their buffers take at most an eighth of it, if more than one
/// thread copies.
MemoryCopiers memory_copiers(int cores, std::uint64_t memory_bytes);

/// Bytes that are copied, each of which is read and written. Unknown where there is no memory for it.
MemoryFacts probe_memory(const ProbeLimits& limits);

}  // namespace stoker
