#include "stoker/doctor/verdict/curves.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "stoker/doctor/model/predict.h"

namespace stoker {
namespace {

constexpr double kAlmost = 0.97;      // of the best rate: where the knee is
constexpr double kCoresMost = 512;    // that a curve goes to
constexpr int kPointsMost = 32;       // of a curve
constexpr int kColumnsMost = 16;      // of numbers of threads
constexpr double kManyTimes = 12;     // above this ratio of the largest to the least, columns have equal ratios
constexpr double kLeastRatio = 1e-6;  // of the largest: smaller values share the first of such columns

bool is_of_cores(Limiter limiter) { return limiter == Limiter::kCpuDecode || limiter == Limiter::kCpuTransform; }

// Threads of each loader, when the node has so many for all of them.
int threads_each(const Facts& facts, double threads) {
  return std::max(1, static_cast<int>(std::ceil(threads / std::max(facts.step.gpus, 1))));
}

CorePoint point_at(const Facts& facts, double cores) {
  const Prediction prediction = predict(facts, {.cores = cores, .threads = threads_each(facts, cores)});
  return {cores, prediction.samples_per_s, prediction.bottleneck().limiter};
}

// Doubled until more of them give nothing.
double cores_of_interest(const Facts& facts) {
  double cores = std::max(4.0, std::ceil(2 * facts.machine.cores));
  for (double rate = point_at(facts, cores).samples_per_s; cores < kCoresMost; cores *= 2) {
    const double with_twice = point_at(facts, 2 * cores).samples_per_s;
    if (kAlmost * with_twice <= rate) break;
    rate = with_twice;
  }
  return std::min(cores, kCoresMost);
}

double share_below(const std::vector<double>& quantiles, double value) {
  const auto above = std::upper_bound(quantiles.begin(), quantiles.end(), value);
  if (above == quantiles.begin()) return 0;
  if (above == quantiles.end()) return 1;
  const double low = *(above - 1), high = *above, steps = static_cast<double>(quantiles.size() - 1);
  return (static_cast<double>(above - 1 - quantiles.begin()) + (value - low) / (high - low)) / steps;
}

}  // namespace

CoreCurve throughput_by_cores(const Facts& facts) {
  CoreCurve curve;
  const double most = cores_of_interest(facts), step = std::max(1.0, std::ceil(most / kPointsMost));
  if (step > 1) curve.points.push_back(point_at(facts, 1));
  for (double cores = step; cores <= most; cores += step) curve.points.push_back(point_at(facts, cores));
  // Too many threads may cost some of the rate again.
  const auto slower = [](const CorePoint& one, const CorePoint& other) {
    return one.samples_per_s < other.samples_per_s;
  };
  const double best = std::max_element(curve.points.begin(), curve.points.end(), slower)->samples_per_s;
  const auto knee = std::find_if(curve.points.begin(), curve.points.end(),
                                 [&](const CorePoint& point) { return point.samples_per_s >= kAlmost * best; });
  if (is_of_cores(curve.points.back().limiter) && knee + 1 == curve.points.end()) return curve;
  curve.knee = knee->cores;
  return curve;
}

std::vector<IndexPoint> throughput_by_index(const Facts& facts) {
  std::vector<IndexPoint> points;
  const int most = std::max(1, static_cast<int>(facts.machine.cores));
  const int step = (most + kColumnsMost - 1) / kColumnsMost;
  for (std::size_t i = 0; i < facts.copy.bytes_per_sample.size(); ++i) {
    const int index = static_cast<int>(i);
    for (int threads = step; threads <= most; threads += step) {
      const Prediction prediction = predict(facts, {.threads = threads_each(facts, threads), .transfer_index = index});
      points.push_back({index, threads, prediction.samples_per_s, prediction.bottleneck().limiter});
    }
  }
  return points;
}

DistributionColumns distribution_columns(const std::vector<double>& quantiles, int columns) {
  DistributionColumns histogram;
  if (quantiles.size() < 2 || !(quantiles.front() < quantiles.back())) return histogram;
  const double least = quantiles.front(), most = quantiles.back();
  const bool by_ratio = least >= 0 && most > kManyTimes * least;
  const double from = by_ratio ? std::max(least, kLeastRatio * most) : least;
  for (int i = 0; i <= columns; ++i) {
    const double part = static_cast<double>(i) / columns;
    histogram.edges.push_back(by_ratio ? from * std::pow(most / from, part) : from + (most - from) * part);
  }
  histogram.edges.front() = least;
  histogram.edges.back() = most;
  for (int i = 0; i < columns; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double below = i == 0 ? 0 : share_below(quantiles, histogram.edges[at]);
    const double through = i + 1 == columns ? 1 : share_below(quantiles, histogram.edges[at + 1]);
    histogram.shares.push_back(through - below);
  }
  const std::size_t middle = (quantiles.size() - 1) / 2;
  histogram.median = quantiles.size() % 2 == 1 ? quantiles[middle] : (quantiles[middle] + quantiles[middle + 1]) / 2;
  return histogram;
}

}  // namespace stoker
