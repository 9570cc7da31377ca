// The model's rates over a range of configurations, for the charts of a report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/doctor/facts.h"
#include "stoker/doctor/model/prediction.h"

namespace stoker {

struct CorePoint {
  double cores = 1;
  double samples_per_s = 0;
  Limiter limiter = Limiter::kCpuDecode;
};

struct CoreCurve {
  std::vector<CorePoint> points;  // from one core to twice as many as there are, or enough, at least
  std::optional<double> knee{};   // the fewest cores with almost the best rate; absent: more would help at the end, too
};

/// With a thread for each core.
CoreCurve throughput_by_cores(const Facts& facts);

struct IndexPoint {
  int transfer_index = 0, threads = 1;  // of the node: all loaders together
  double samples_per_s = 0;
  Limiter limiter = Limiter::kCpuDecode;
};

/// Every transfer index that was measured, with 1 thread to as many as there are cores; of many cores, some numbers.
/// Empty without a device.
std::vector<IndexPoint> throughput_by_index(const Facts& facts);

/// Of a distribution that its quantiles describe.
struct DistributionColumns {
  std::vector<double> edges;   // one more than shares
  std::vector<double> shares;  // sum to 1
  double median = 0;
};

/// Columns of equal width; where the largest value is many times the least, of equal ratio. Empty for fewer than two
/// quantiles, or if all are equal.
DistributionColumns distribution_columns(const std::vector<double>& quantiles, int columns);

}  // namespace stoker
