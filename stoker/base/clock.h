// Time in nanoseconds, for metrics and deadlines. Threads: any.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>

namespace stoker {

/// Monotonic.
inline std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Of the process's threads on the CPU so far, user and system.
inline std::int64_t process_cpu_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace stoker
