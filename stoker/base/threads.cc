#include "stoker/base/threads.h"

namespace stoker {

void check_threads(int threads) {
  if (threads < 1) fail(ErrorKind::kUsage, "threads must be at least 1, not {}", threads);
  if (threads > kThreadsMax) fail(ErrorKind::kUsage, "threads must be at most {}, not {}", kThreadsMax, threads);
}

}  // namespace stoker
