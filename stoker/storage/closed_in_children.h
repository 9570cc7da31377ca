// A descriptor that a forked child must close, since keeping it would block a name that other processes wait for: a
// socket's.
#pragma once

#include "stoker/storage/posix_file.h"

namespace stoker {

/// While it lives, children that are forked close their copies of the descriptor at once. (Those that another program
/// takes the place of have O_CLOEXEC.) Threads: any.
class ClosedInChildren {
 public:
  /// The descriptor stays where it is. Throws kIo if the system refuses.
  explicit ClosedInChildren(FileDescriptor& descriptor);
  ~ClosedInChildren();
  ClosedInChildren(const ClosedInChildren&) = delete;
  ClosedInChildren& operator=(const ClosedInChildren&) = delete;

 private:
  FileDescriptor& descriptor_;
};

}  // namespace stoker
