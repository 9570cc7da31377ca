// What more threads and more cores give: as measured, and beyond that between the best that can be hoped for and the
// worst that can be feared.
#pragma once

#include <vector>

#include "stoker/doctor/facts.h"

namespace stoker {

class ScalingCurve {
 public:
  struct Worth {
    double workers;  // in units of one thread alone
    double error;    // relative: of the measurement, and of what is not known
  };

  /// As measured on `cores`. Without measurements, each core is taken for as good as the first.
  ScalingCurve(const std::vector<CpuFacts::Scaling>& measured, double cores);

  bool measured() const { return !points_.empty(); }
  /// Of one thread alone, samples a second; unset without measurements.
  std::optional<double> one_thread_per_s() const { return one_thread_per_s_; }
  /// Threads beyond the cores give nothing.
  Worth worth(double threads, double cores) const;

 private:
  struct Point {
    double threads, workers, spread;
  };
  // What becomes of the scaling beyond the largest count that was measured: each thread more is worth what those before
  // were on average; or all wait for each other by the part that explains the last measurement.
  enum class Beyond : unsigned char { kGoesOn, kCrowds };
  double workers(double threads, Beyond beyond) const;
  double spread_near(double threads) const;

  const double cores_;
  std::vector<Point> points_;  // by threads, up to the cores
  std::optional<double> one_thread_per_s_;
};

}  // namespace stoker
