// What a consumer did between two batches.
#pragma once

#include <cstdint>

namespace stoker {

/// From one batch's delivery to the next one's.
struct BatchPeriod {
  std::int64_t step_ns = 0;  // the consumer was at work, or did something else altogether, and
  std::int64_t wait_ns = 0;  // then waited for the batch
  std::int64_t made = 0;     // slots of batches that the CPU finished meanwhile
};

}  // namespace stoker
