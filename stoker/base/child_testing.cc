#include "stoker/base/child_testing.h"

#include <sys/wait.h>
#include <unistd.h>

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

}  // namespace stoker
