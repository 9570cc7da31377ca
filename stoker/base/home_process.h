// Tells the process that made an object from a forked child. After fork() the child has copies of our objects, but none
// of our threads, and locks that no thread will unlock. Objects that own threads check this and do nothing in a child.
#pragma once

#include <memory>
#include <utility>

namespace stoker {

/// Remembers the process that made it. Asked for each read and each ticket, so it makes no system call.
class HomeProcess {
 public:
  HomeProcess();

  bool here() const;

 private:
  const int forks_;  // how many fork() calls lay between the first process and this one
};

/// As std::make_shared, but a forked child never destroys its copy: joining threads that are not there would hang.
template <typename T, typename... Args>
std::shared_ptr<T> make_shared_at_home(Args&&... args) {
  return std::shared_ptr<T>(new T(std::forward<Args>(args)...), [home = HomeProcess()](T* object) {
    if (home.here()) delete object;
  });
}

}  // namespace stoker
