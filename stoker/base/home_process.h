// Tells the process that made an object from a forked child. After fork() the child has copies of our objects, but none
// of our threads, and locks that no thread will unlock. Objects that own threads check this and do nothing in a child.
#pragma once

#include <unistd.h>

#include <memory>
#include <utility>

namespace stoker {

/// Remembers the process that made it.
class HomeProcess {
 public:
  bool here() const { return ::getpid() == id_; }

 private:
  pid_t id_ = ::getpid();
};

/// As std::make_shared, but a forked child never destroys its copy: joining threads that are not there would hang.
template <typename T, typename... Args>
std::shared_ptr<T> make_shared_at_home(Args&&... args) {
  return std::shared_ptr<T>(new T(std::forward<Args>(args)...), [home = HomeProcess()](T* object) {
    if (home.here()) delete object;
  });
}

}  // namespace stoker
