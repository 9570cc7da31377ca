// A distribution as its quantiles, evenly spaced from the least value to the largest: as the probes give sizes and
// costs.
#pragma once

#include <vector>

namespace stoker {

class Quantiles {
 public:
  /// `values` ascend; there must be one.
  explicit Quantiles(std::vector<double> values);

  /// Of which half lie below `median`, and whose logarithms' deviation is `sigma`; the outermost are those of 1% and of
  /// 99%.
  static Quantiles log_normal(double median, double sigma);

  /// At `share` of the values, from 0 to 1, in between on a straight line.
  double at(double share) const;
  double mean() const { return mean_; }
  double least() const { return values_.front(); }
  double largest() const { return values_.back(); }

  Quantiles scaled_to_mean(double mean) const;

 private:
  std::vector<double> values_;
  double mean_ = 0;
};

}  // namespace stoker
