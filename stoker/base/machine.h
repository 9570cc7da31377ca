// The part of the machine that this process may use, by affinity masks and container limits.
#pragma once

#include <cstdint>
#include <string>

namespace stoker {

/// Cores this process may use, at least 1: the affinity mask, cut by a cgroup's CPU quota (rounded up).
int usable_cores();

/// The same in seconds of their time a second: a quota may leave a part of one, "1.5".
double usable_core_time();

/// Bytes of memory this process may use: the machine's, cut by a cgroup's limit.
std::uint64_t usable_memory();

/// "Intel(R) Xeon(R) Processor, 2 cores": for reports.
std::string machine_name();

}  // namespace stoker
