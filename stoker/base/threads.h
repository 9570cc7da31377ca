// How many threads may be asked for, and what it means to the user when the machine refuses one.
#pragma once

#include <system_error>

#include "stoker/base/error.h"

namespace stoker {

constexpr int kThreadsMax = 4096;  // beyond any machine's cores: a slip of the pen

/// Throws kUsage unless 1 <= threads <= kThreadsMax.
void check_threads(int threads);

/// Calls `start`, which starts threads; the machine's refusal becomes an Error of kind kMemory. Threads started before
/// the one refused are `start`'s to end.
template <typename Start>
void translate_thread_errors(const Start& start) {
  try {
    start();
  } catch (const std::system_error& error) {
    fail(ErrorKind::kMemory, "cannot start a thread: {}; ask for fewer threads", error.what());
  }
}

}  // namespace stoker
