// Monotonic time in nanoseconds, for metrics and deadlines. Threads: any.
#pragma once

#include <chrono>
#include <cstdint>

namespace stoker {

inline std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace stoker
