#include "stoker/storage/http/retry_delay.h"

#include <algorithm>
#include <cmath>

namespace stoker {

std::int64_t retry_delay_ns(const HttpOptions& options, int tries, double drawn,
                            std::optional<std::int64_t> retry_after_s) {
  using std::chrono::nanoseconds;
  const auto first = static_cast<double>(nanoseconds(options.delay_first).count());
  const auto most = static_cast<double>(nanoseconds(options.delay_most).count());
  const double range = std::min(std::ldexp(first, tries - 1), most);
  const auto jitter = static_cast<std::int64_t>(range * drawn);
  constexpr std::int64_t kAskedMost = std::int64_t{1}
                                      << 32;  // more seconds than anybody waits, and fewer than overflow
  return jitter + std::min(retry_after_s.value_or(0), kAskedMost) * 1'000'000'000;
}

}  // namespace stoker
