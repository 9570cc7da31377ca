// Limits on the size of an image. Threads: a value; many may read it, one may change it.
#pragma once

#include <cstdint>

namespace stoker {

/// Limits that protect the machine; checked against the header before anything is allocated.
struct DecodeLimits {
  std::int64_t pixels_max = 89'000'000;
  int side_max = 65'535;
  std::int64_t bytes_max = std::int64_t{1} << 30;  // of decoded pixels

  /// Images of up to so many pixels, however many bytes they take.
  static DecodeLimits up_to(std::int64_t pixels);
};

}  // namespace stoker
