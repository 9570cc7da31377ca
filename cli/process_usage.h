// The resources that this process has used, from the operating system.
#pragma once

#include <cstdint>

namespace stoker {

/// Seconds of CPU, user and system, that all threads have used so far.
double process_cpu_s();

/// The most memory the process has held at once.
std::int64_t process_rss_bytes_max();

}  // namespace stoker
