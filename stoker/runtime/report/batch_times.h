// When a batch went through each part of its life, for reports and traces.
#pragma once

#include <cstdint>

namespace stoker {

/// By base/clock.h, each not before the one above it; 0: not yet.
struct BatchTimes {
  std::int64_t drawn_ns = 0;    // its first sample was
  std::int64_t read_ns = 0;     // the last of its samples was
  std::int64_t written_ns = 0;  // its last slot was
  std::int64_t sealed_ns = 0;   // it could be delivered, or was handed over to the device
  std::int64_t delivered_ns = 0;
};

}  // namespace stoker
