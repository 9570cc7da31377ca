// The number of rounds of tests with random or exhaustive input.
#pragma once

#include <cstdlib>

#include "stoker/base/sanitizers.h"

namespace stoker {

/// Whether a sanitizer is active: the program is then far slower, and does not survive a limited address space.
#if STOKER_ADDRESS_SANITIZER || STOKER_THREAD_SANITIZER
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

/// `quick` rounds; twenty times as many in the long suite (`./dev test --full`); under a sanitizer a quarter of them,
/// where there are dozens.
template <typename Count>
Count rounds(Count quick) {
  if (std::getenv("STOKER_TEST_FULL")) return 20 * quick;
  return kSanitized && quick > 20 ? quick / 4 : quick;
}

}  // namespace stoker
