// Releases memory that libraries have freed and malloc keeps, separately for each thread: with large images that is
// more than a budget has room for.
#pragma once

#include <cstddef>

namespace stoker {

/// Gives the machine back pages of up to about `bytes` bytes that this thread has freed. Their addresses stay with
/// malloc, which gets empty pages when it uses them again. Does nothing if the C library is not glibc.
void release_freed(std::size_t bytes) noexcept;

}  // namespace stoker
