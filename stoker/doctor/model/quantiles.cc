#include "stoker/doctor/model/quantiles.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <utility>

namespace stoker {
namespace {

// The normal distribution at 1%, 3%, 5%, ... 99%.
std::vector<double> normal_quantiles() {
  std::vector<double> values;
  for (int percent = 1; percent < 100; percent += 2) {
    double low = -4, high = 4;
    for (int i = 0; i < 40; ++i) {
      const double middle = (low + high) / 2;
      (std::erfc(-middle / std::sqrt(2.0)) / 2 < percent / 100.0 ? low : high) = middle;
    }
    values.push_back(low);
  }
  return values;
}

}  // namespace

Quantiles::Quantiles(std::vector<double> values) : values_(std::move(values)) {
  assert(!values_.empty());
  assert(std::is_sorted(values_.begin(), values_.end()));
  if (values_.size() == 1) {
    mean_ = values_.front();
    return;
  }
  for (std::size_t i = 1; i < values_.size(); ++i) mean_ += (values_[i - 1] + values_[i]) / 2;
  mean_ /= static_cast<double>(values_.size() - 1);
}

Quantiles Quantiles::log_normal(double median, double sigma) {
  static const std::vector<double> normal = normal_quantiles();
  std::vector<double> values;
  values.reserve(normal.size());
  for (const double z : normal) values.push_back(median * std::exp(sigma * z));
  return Quantiles(std::move(values));
}

double Quantiles::at(double share) const {
  const double place = share * static_cast<double>(values_.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  if (below + 1 >= values_.size()) return values_.back();
  const double part = place - static_cast<double>(below);
  return values_[below] + part * (values_[below + 1] - values_[below]);
}

Quantiles Quantiles::scaled_to_mean(double mean) const {
  std::vector<double> values = values_;
  if (mean_ > 0) {
    for (double& value : values) value *= mean / mean_;
  }
  return Quantiles(std::move(values));
}

}  // namespace stoker
