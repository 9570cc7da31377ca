// Predicts a quantity at all settings of the knobs from its values at some: a Gaussian process. The nearer two settings
// are, the more alike they are expected to be.
#pragma once

#include <vector>

#include "stoker/tuner/knob_setting.h"

namespace stoker {

struct Belief {
  double mean = 0;
  double sd = 0;
};

/// Of how much the quantity differs from what is expected anyhow, as a standard deviation; and how far, in doublings of
/// a knob or in steps of the index, a difference carries.
struct SurfaceShape {
  double overall = 0.3;                          // by which all settings differ alike
  double index = 0.25, index_reach = 1.2;        // from one index to others, whatever the threads
  double threads = 0.15, threads_reach = 1.5;    // from few threads to many, at any index
  double threads_at_index = 0.15;                // and at one index, beyond that
  double own = 0.01;                             // of a setting, from all others
  double prefetch = 0.06, prefetch_reach = 1.0;  // in doublings
  double io_depth = 0.08, io_depth_reach = 1.5;  // the same
};

class ResponseSurface {
 public:
  explicit ResponseSurface(const SurfaceShape& shape = {}) : shape_(shape) {}

  /// The quantity was `value` there, with an error of this standard deviation, above 0.
  void see(const KnobSetting& at, double value, double error_sd);
  /// After the last see(), and before believe().
  void learn();
  Belief believe(const KnobSetting& at) const;

 private:
  struct Place {
    double threads, index, prefetch, io_depth;  // as distances are measured: doublings, and steps
  };

  static Place place_of(const KnobSetting& knobs);
  double covariance(const Place& a, const Place& b) const;
  void forward(std::vector<double>& values) const;

  SurfaceShape shape_;
  std::vector<Place> places_;
  std::vector<double> values_, variances_;
  std::vector<double> factor_;   // lower triangle of the covariances' Cholesky factor, row by row
  std::vector<double> weights_;  // factor^-1 values
  mutable std::vector<double> scratch_;
};

}  // namespace stoker
