// How often stores over a network asked for fewer requests.
#pragma once

#include <cstdint>

#include "stoker/storage/store_traffic.h"

namespace stoker {

/// What a meter may be, too. Threads: any.
class SlowDownMeter {
 public:
  virtual ~SlowDownMeter() = default;

  /// Answers that refused a request because there are too many, from its beginning: those of status 429 or 503.
  virtual std::int64_t slow_downs() const = 0;
};

inline std::int64_t slow_downs_of(const TrafficMeters& meters) {
  std::int64_t sum = 0;
  for (const auto& meter : meters) {
    if (const auto* const counts = dynamic_cast<const SlowDownMeter*>(meter.get())) sum += counts->slow_downs();
  }
  return sum;
}

}  // namespace stoker
