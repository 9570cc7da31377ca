// What of the machine this process may use: affinity masks and container limits count, not what is built in.
#pragma once

#include <cstdint>
#include <string>

namespace stoker {

/// Cores this process may use, at least 1: the affinity mask, cut by a cgroup's CPU quota (rounded up).
int usable_cores();

/// Bytes of memory this process may use: the machine's, cut by a cgroup's limit.
std::uint64_t usable_memory();

/// "Intel(R) Xeon(R) Processor, 2 cores": for reports.
std::string machine_name();

}  // namespace stoker
