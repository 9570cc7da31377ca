#include "stoker/storage/closed_in_children.h"

#include <pthread.h>

#include <mutex>
#include <set>

namespace stoker {
namespace {

/// Those that children close.
struct ClosedDescriptors {
  std::mutex mutex;  // held while the process is forked, so that a child finds the set whole
  std::set<FileDescriptor*> all;
};

ClosedDescriptors& closed_descriptors() {
  static auto* const closed = new ClosedDescriptors;  // never destroyed: the process may fork as it ends
  return *closed;
}

// In the child, where little may be called.
void close_all() {
  for (FileDescriptor* const descriptor : closed_descriptors().all) *descriptor = FileDescriptor();
  closed_descriptors().mutex.unlock();
}

}  // namespace

ClosedInChildren::ClosedInChildren(FileDescriptor& descriptor) : descriptor_(descriptor) {
  static const int error = ::pthread_atfork([] { closed_descriptors().mutex.lock(); },
                                            [] { closed_descriptors().mutex.unlock(); }, close_all);
  if (error != 0) fail_system("watch for", "forked children", error);
  const std::lock_guard lock(closed_descriptors().mutex);
  closed_descriptors().all.insert(&descriptor);
}

ClosedInChildren::~ClosedInChildren() {
  const std::lock_guard lock(closed_descriptors().mutex);
  closed_descriptors().all.erase(&descriptor_);
}

}  // namespace stoker
