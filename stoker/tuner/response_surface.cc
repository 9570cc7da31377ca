#include "stoker/tuner/response_surface.h"

#include <algorithm>
#include <cmath>

#include "stoker/tuner/statistics.h"

namespace stoker {
namespace {

double near(double distance, double reach) { return std::exp(-0.5 * (distance / reach) * (distance / reach)); }

}  // namespace

void ResponseSurface::see(const KnobSetting& at, double value, double error_sd) {
  places_.push_back(place_of(at));
  values_.push_back(value);
  variances_.push_back(square(error_sd));
}

void ResponseSurface::learn() {
  const std::size_t n = places_.size();
  factor_.assign(n * (n + 1) / 2, 0);
  weights_ = values_;
  for (std::size_t row = 0; row < n; ++row) {
    double* const line = &factor_[row * (row + 1) / 2];
    for (std::size_t column = 0; column <= row; ++column) {
      const double* const above = &factor_[column * (column + 1) / 2];
      double left = covariance(places_[row], places_[column]);
      if (column == row) left += variances_[row];
      for (std::size_t i = 0; i < column; ++i) left -= line[i] * above[i];
      line[column] = column == row ? std::sqrt(std::max(left, 1e-12)) : left / above[column];
    }
  }
  forward(weights_);
}

Belief ResponseSurface::believe(const KnobSetting& at) const {
  const Place place = place_of(at);
  scratch_.resize(places_.size());
  for (std::size_t i = 0; i < places_.size(); ++i) scratch_[i] = covariance(place, places_[i]);
  forward(scratch_);
  double mean = 0, explained = 0;
  for (std::size_t i = 0; i < scratch_.size(); ++i) {
    mean += scratch_[i] * weights_[i];
    explained += square(scratch_[i]);
  }
  return {mean, std::sqrt(std::max(covariance(place, place) - explained, 0.0))};
}

ResponseSurface::Place ResponseSurface::place_of(const KnobSetting& knobs) {
  return {std::log2(knobs.threads), static_cast<double>(knobs.transfer_index), std::log2(knobs.prefetch),
          std::log2(knobs.io_depth)};
}

double ResponseSurface::covariance(const Place& a, const Place& b) const {
  const double threads = near(a.threads - b.threads, shape_.threads_reach);
  const bool same_index = a.index == b.index;
  const bool same = same_index && a.threads == b.threads && a.prefetch == b.prefetch && a.io_depth == b.io_depth;
  return square(shape_.overall) + (same ? square(shape_.own) : 0) +
         square(shape_.index) * near(a.index - b.index, shape_.index_reach) +
         (square(shape_.threads) + (same_index ? square(shape_.threads_at_index) : 0)) * threads +
         square(shape_.prefetch) * near(a.prefetch - b.prefetch, shape_.prefetch_reach) +
         square(shape_.io_depth) * near(a.io_depth - b.io_depth, shape_.io_depth_reach);
}

// Solves factor * x = values, in place.
void ResponseSurface::forward(std::vector<double>& values) const {
  for (std::size_t row = 0; row < values.size(); ++row) {
    const double* const line = &factor_[row * (row + 1) / 2];
    double left = values[row];
    for (std::size_t i = 0; i < row; ++i) left -= line[i] * values[i];
    values[row] = left / line[row];
  }
}

}  // namespace stoker
