#include "stoker/doctor/probe/figure_of.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace stoker {
namespace {

/// Between the values, which are sorted, in proportion.
double quantile_of(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - std::floor(place)) * (sorted[above] - sorted[below]);
}

}  // namespace

Figure figure_of(std::vector<double> tries) {
  if (tries.empty()) return {};
  std::sort(tries.begin(), tries.end());
  return {.median = quantile_of(tries, 0.5),
          .low = quantile_of(tries, 0.25),
          .high = quantile_of(tries, 0.75),
          .count = static_cast<int>(tries.size())};
}

std::vector<double> quantiles_of(std::vector<double> values, int count) {
  std::vector<double> quantiles;
  if (values.empty()) return quantiles;
  std::sort(values.begin(), values.end());
  for (int i = 0; i < count; ++i) {
    quantiles.push_back(quantile_of(values, static_cast<double>(i) / std::max(count - 1, 1)));
  }
  return quantiles;
}

}  // namespace stoker
