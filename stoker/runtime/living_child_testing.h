// A forked child that keeps running, like a DataLoader's worker that was forked while a loader existed.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace stoker {

/// Lives until this goes.
class LivingChild {
 public:
  LivingChild() {
    int to_child[2], from_child[2];
    if (::pipe2(to_child, O_CLOEXEC) != 0 || ::pipe2(from_child, O_CLOEXEC) != 0) std::abort();
    child_ = ::fork();
    char byte = 0;
    if (child_ == 0) {
      ::close(to_child[1]);
      const bool told = ::write(from_child[1], &byte, 1) == 1;
      ::_exit(told && ::read(to_child[0], &byte, 1) == 0 ? 0 : 1);
    }
    ::close(to_child[0]);
    stays_open_ = to_child[1];
    lives_ = child_ > 0 && ::read(from_child[0], &byte, 1) == 1;
    for (const int end : from_child) ::close(end);
  }
  ~LivingChild() {
    ::close(stays_open_);
    ::waitpid(child_, nullptr, 0);
  }
  LivingChild(const LivingChild&) = delete;
  LivingChild& operator=(const LivingChild&) = delete;

  bool lives() const { return lives_; }

 private:
  pid_t child_ = -1;
  int stays_open_ = -1;
  bool lives_ = false;
};

}  // namespace stoker
