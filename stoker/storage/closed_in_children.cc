#include "stoker/storage/closed_in_children.h"

#include <pthread.h>

#include <mutex>

namespace stoker {
namespace {

// Held while the process is forked, so that a child finds the list whole.
constinit std::mutex children_mutex;
constinit ClosedInChildren* first_closed = nullptr;

}  // namespace

ClosedInChildren::ClosedInChildren(FileDescriptor& descriptor) : descriptor_(descriptor) {
  static const int error = ::pthread_atfork([] { children_mutex.lock(); }, [] { children_mutex.unlock(); },
                                            [] {
                                              close_all();
                                              children_mutex.unlock();
                                            });
  if (error != 0) fail_system("watch for", "forked children", error);
  const std::lock_guard lock(children_mutex);
  after_ = first_closed;
  if (after_) after_->before_ = this;
  first_closed = this;
}

ClosedInChildren::~ClosedInChildren() {
  const std::lock_guard lock(children_mutex);
  (before_ ? before_->after_ : first_closed) = after_;
  if (after_) after_->before_ = before_;
}

// In the child, where little may be called.
void ClosedInChildren::close_all() {
  for (ClosedInChildren* each = first_closed; each; each = each->after_) each->descriptor_ = FileDescriptor();
}

}  // namespace stoker
