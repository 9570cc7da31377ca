// Memory that libraries have freed and malloc keeps, for each thread anew: of large images more than a budget has room
// for.
#pragma once

#include <cstddef>

namespace stoker {

/// Gives pages of up to about `bytes` bytes that this thread has freed back to the machine. They stay malloc's, which
/// gets them again, empty, where it uses them. Nothing where the C library is not glibc.
void give_back_freed(std::size_t bytes) noexcept;

}  // namespace stoker
