// The CPU time of the process.
#pragma once

#include <cstdint>
#include <ctime>

namespace stoker {

/// CPU time, user and system, of all threads so far, in nanoseconds.
inline std::int64_t process_cpu_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace stoker
