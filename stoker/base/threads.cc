#include "stoker/base/threads.h"

#include <pthread.h>

namespace stoker {

void check_threads(int threads) {
  if (threads < 1) fail(ErrorKind::kUsage, "threads must be at least 1, not {}", threads);
  if (threads > kThreadsMax) fail(ErrorKind::kUsage, "threads must be at most {}, not {}", kThreadsMax, threads);
}

void name_this_thread(const std::string& name) { pthread_setname_np(pthread_self(), name.substr(0, 15).c_str()); }

}  // namespace stoker
