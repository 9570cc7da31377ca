// Limits on the number of threads, the error when the machine refuses one, and their names. Threads: any.
#pragma once

#include <string>
#include <system_error>

#include "stoker/base/error.h"

namespace stoker {

constexpr int kThreadsMax = 4096;  // beyond any machine's cores: a slip of the pen

/// Throws kUsage unless 1 <= threads <= kThreadsMax.
void check_threads(int threads);

/// Names the calling thread, cut to the 15 characters that Linux keeps.
void name_this_thread(const std::string& name);

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
