// What more threads and more cores give: as measured, and beyond that between the best that can be hoped for and the
// worst that can be feared.
#pragma once

#include <optional>
#include <vector>

#include "stoker/doctor/facts.h"

namespace stoker {

class ScalingCurve {
 public:
  struct Worth {
    double cores;  // in units of one core whose threads are not disturbed by others
    double error;  // relative: of the measurement, and of what is not known
  };

  /// As measured on `cores`. Without measurements, each core is taken for as good as the first.
  ScalingCurve(const std::vector<CpuFacts::Scaling>& measured, double cores);

  bool measured() const { return !points_.empty(); }
  /// Of such a core, samples a second; unset without measurements.
  std::optional<double> core_per_s() const { return core_per_s_; }
  /// Threads beyond the cores give nothing.
  Worth worth(double threads, double cores) const;

 private:
  struct Point {
    double threads;  // that had a core
    double cores;    // that were used: beside the threads, something reads and takes batches
    double worth, spread;
  };
  using Count = double Point::*;
  // What becomes of the scaling beyond the largest count that was measured: each one more is worth what those before
  // were on average; or all wait for each other by the part that explains the last measurement.
  enum class Beyond : unsigned char { kGoesOn, kCrowds };
  double worth(Count of, double count, Beyond beyond) const;
  double worth(double threads, double cores, Beyond beyond) const;
  double spread_near(double threads) const;

  const double cores_;
  std::vector<Point> points_;  // by threads, up to the cores
  std::optional<double> core_per_s_;
};

}  // namespace stoker
