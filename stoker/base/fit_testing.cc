#include "stoker/base/fit_testing.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace stoker {

double kolmogorov_smirnov(std::vector<double> samples, const std::function<double(double)>& cdf) {
  std::sort(samples.begin(), samples.end());
  const auto count = static_cast<double>(samples.size());
  double distance = 0;
  for (std::size_t i = 0; i < samples.size();) {
    // Equal samples are one step of their distribution.
    std::size_t next = i;
    while (next < samples.size() && samples[next] == samples[i]) ++next;
    const double expected = cdf(samples[i]);
    distance = std::max(distance, std::abs(expected - static_cast<double>(next) / count));
    if (next == i + 1) distance = std::max(distance, std::abs(expected - static_cast<double>(i) / count));
    i = next;
  }
  return distance * std::sqrt(count);
}

double chi_squared_excess(std::span<const int> counts, std::span<const double> probabilities) {
  assert(counts.size() == probabilities.size());
  double total = 0;
  for (const int count : counts) total += count;
  double statistic = 0;
  int cells = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = total * probabilities[i];
    if (expected == 0) {
      if (counts[i] != 0) return std::numeric_limits<double>::infinity();
      continue;
    }
    statistic += (counts[i] - expected) * (counts[i] - expected) / expected;
    ++cells;
  }
  const double freedom = cells - 1;
  return (statistic - freedom) / std::sqrt(2 * freedom);
}

}  // namespace stoker
