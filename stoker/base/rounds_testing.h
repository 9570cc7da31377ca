// How long tests with random input go on.
#pragma once

#include <cstdlib>

namespace stoker {

/// `quick` rounds; twenty times as many in the long suite (`./dev test --full`).
template <typename Count>
Count rounds(Count quick) {
  return std::getenv("STOKER_TEST_FULL") ? 20 * quick : quick;
}

}  // namespace stoker
