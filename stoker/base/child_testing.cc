#include "stoker/base/child_testing.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>

#include "stoker/base/error.h"

namespace stoker {

int status_in_child(const std::function<int()>& action) {
  constexpr unsigned kSecondsMax = 20;
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kSecondsMax);
    ::_exit(action());
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void limit_memory(std::uint64_t more) {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit limits{};
  const auto limit = [&](std::uint64_t bytes) {
    limits.rlim_cur = bytes;
    if (::setrlimit(RLIMIT_AS, &limits) != 0) fail(ErrorKind::kIo, "cannot limit the memory: error {}", errno);
  };
  ::getrlimit(RLIMIT_AS, &limits);
  const std::uint64_t used = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  limit(used);
  // What malloc() has kept of what was freed; it is never released.
  for (std::size_t bytes = std::size_t{64} << 20; bytes >= (32 << 10); bytes /= 2) {
    while (std::malloc(bytes) != nullptr) continue;
  }
  limit(used + more);
}

}  // namespace stoker
