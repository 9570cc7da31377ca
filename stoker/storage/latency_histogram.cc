#include "stoker/storage/latency_histogram.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stoker {

std::size_t LatencyHistogram::bucket_of(std::int64_t ns) {
  if (ns <= kLeastNs) return 0;
  const double doublings = std::log2(static_cast<double>(ns) / static_cast<double>(kLeastNs));
  return std::min(static_cast<std::size_t>(std::ceil(doublings * kPerDoubling)), kBuckets - 1);
}

std::int64_t LatencyHistogram::end_of_ns(std::size_t bucket) {
  return static_cast<std::int64_t>(static_cast<double>(kLeastNs) *
                                   std::exp2(static_cast<double>(bucket) / kPerDoubling));
}

std::int64_t LatencyHistogram::total() const { return std::accumulate(counts.begin(), counts.end(), std::int64_t{0}); }

std::int64_t LatencyHistogram::quantile_ns(double part) const {
  const double wanted = part * static_cast<double>(total());
  std::int64_t passed = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    const double before = static_cast<double>(passed);
    passed += counts[i];
    if (passed == 0 || static_cast<double>(passed) < wanted) continue;
    const double begin = i > 0 ? static_cast<double>(end_of_ns(i - 1)) : 0, end = static_cast<double>(end_of_ns(i));
    return static_cast<std::int64_t>(begin + (end - begin) * (wanted - before) / static_cast<double>(counts[i]));
  }
  return 0;
}

}  // namespace stoker
