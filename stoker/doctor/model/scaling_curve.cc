#include "stoker/doctor/model/scaling_curve.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace stoker {
namespace {

constexpr double kUnmeasuredError = 0.05;  // with every doubling of the cores that nobody measured

}  // namespace

ScalingCurve::ScalingCurve(const std::vector<CpuFacts::Scaling>& measured, double cores) : cores_(cores) {
  for (const CpuFacts::Scaling& scaling : measured) {
    if (!scaling.samples_per_s.known() || scaling.samples_per_s.median <= 0) continue;
    if (scaling.threads > std::max(1.0, std::ceil(cores))) continue;
    points_.push_back(
        {static_cast<double>(scaling.threads), scaling.samples_per_s.median, scaling.samples_per_s.spread()});
  }
  if (points_.empty()) return;
  std::sort(points_.begin(), points_.end(), [](const Point& a, const Point& b) { return a.threads < b.threads; });
  one_thread_per_s_ = points_.front().workers / points_.front().threads;
  for (Point& point : points_) point.workers /= *one_thread_per_s_;
}

double ScalingCurve::workers(double threads, Beyond beyond) const {
  if (points_.empty() || threads <= points_.front().threads) return threads;
  const Point& last = points_.back();
  if (threads >= last.threads) {
    if (beyond == Beyond::kGoesOn || last.threads <= 1) return last.workers * threads / last.threads;
    const double crowding = std::max(0.0, (last.threads / last.workers - 1) / (last.threads - 1));
    const double of_last = last.threads / (1 + crowding * (last.threads - 1));  // the same, unless it is above 1 each
    return last.workers / of_last * threads / (1 + crowding * (threads - 1));
  }
  const auto above = std::upper_bound(points_.begin(), points_.end(), threads,
                                      [](double value, const Point& point) { return value < point.threads; });
  const auto below = above - 1;
  const double part = (threads - below->threads) / (above->threads - below->threads);
  return below->workers + part * (above->workers - below->workers);
}

double ScalingCurve::spread_near(double threads) const {
  double spread = 0;
  for (const Point& point : points_) {
    spread = std::max(spread, point.spread);
    if (point.threads >= threads) return point.spread;
  }
  return spread;
}

ScalingCurve::Worth ScalingCurve::worth(double threads, double cores) const {
  const double at_work = std::min(threads, cores);
  if (!measured()) return {at_work, kUnmeasuredError * std::log2(std::max(1.0, at_work))};
  // Other cores are like these; or they are more, or fewer, of the same machine, as threads are.
  const double like_these = cores / cores_ * workers(at_work * cores_ / cores, Beyond::kCrowds);
  const double crowded = workers(at_work, Beyond::kCrowds), going_on = workers(at_work, Beyond::kGoesOn);
  const double least = std::min({like_these, crowded, going_on}), most = std::max({like_these, crowded, going_on});
  const double unmeasured = kUnmeasuredError * std::log2(std::max(1.0, at_work / points_.back().threads));
  return {std::sqrt(least * most), std::hypot(std::log(most / least) / 2, unmeasured, spread_near(at_work))};
}

}  // namespace stoker
