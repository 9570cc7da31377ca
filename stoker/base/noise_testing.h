// Numbers without a pattern, the same in every run.
#pragma once

#include <cstdint>

namespace stoker {

/// A small generator of its own, so that tests do not depend on the library's.
class Noise {
 public:
  explicit Noise(std::uint32_t seed) : state_(seed * 2654435761U + 1) {}
  std::uint32_t next() {
    state_ = state_ * 1664525U + 1013904223U;
    return state_ >> 8;
  }
  int between(int low, int high) { return low + static_cast<int>(next() % static_cast<std::uint32_t>(high - low + 1)); }
  std::uint8_t byte() { return static_cast<std::uint8_t>(next() >> 8); }

 private:
  std::uint32_t state_;
};

}  // namespace stoker
