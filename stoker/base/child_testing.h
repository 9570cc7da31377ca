// Actions in a forked child, or in a process that will not survive them.
#pragma once

#include <cstdint>
#include <functional>

#include "stoker/base/sanitizers.h"

namespace stoker {

/// Runs `action` in a forked child; returns its exit status, or the number of the signal that ended it, negative. A
/// child that hangs is ended by SIGALRM.
int status_in_child(const std::function<int()>& action);

/// Whether the child of a process with several threads may allocate and start threads. Under ThreadSanitizer it may
/// not: a lock of the sanitizer's allocator that another thread held at the fork stays locked.
inline constexpr bool kChildrenOfThreadsWork = !STOKER_THREAD_SANITIZER;

/// From now on the process gets no more than so many bytes of address space above what it has. For a child, where
/// kSanitized is false.
void limit_memory(std::uint64_t more);

}  // namespace stoker
