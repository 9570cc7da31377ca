// How long tests with random or exhaustive input go on.
#pragma once

#include <cstdlib>

namespace stoker {

/// Whether a sanitizer watches: a program is slower by far then, and does not survive a limited address space.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

/// `quick` rounds; twenty times as many in the long suite (`./dev test --full`).
template <typename Count>
Count rounds(Count quick) {
  return std::getenv("STOKER_TEST_FULL") ? 20 * quick : quick;
}

}  // namespace stoker
