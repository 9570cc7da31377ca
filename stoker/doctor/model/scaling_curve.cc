#include "stoker/doctor/model/scaling_curve.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace stoker {
namespace {

constexpr double kUnmeasuredError = 0.05;  // with every doubling of the cores that was not measured

}  // namespace

ScalingCurve::ScalingCurve(const std::vector<CpuFacts::Scaling>& measured, double cores) : cores_(cores) {
  for (const CpuFacts::Scaling& scaling : measured) {
    const double rate = scaling.samples_per_s.median;
    if (!scaling.samples_per_s.known() || rate <= 0) continue;
    if (scaling.threads > std::max(1.0, std::ceil(cores))) continue;
    const double most = std::min<double>(scaling.threads, cores);
    const double used = scaling.cpu_s > 0 ? std::min(rate * scaling.cpu_s, cores) : most;
    // A quota is used up in bursts: what a short measurement saw of it is told by the time of the cores alone.
    const double threads = scaling.threads > cores ? used : most;
    points_.push_back({threads, used, rate, scaling.samples_per_s.spread()});
  }
  if (points_.empty()) return;
  std::sort(points_.begin(), points_.end(), [](const Point& a, const Point& b) { return a.threads < b.threads; });
  core_per_s_ = points_.front().worth / points_.front().cores;
  double used = 0;
  for (Point& point : points_) {
    point.worth /= *core_per_s_;
    point.cores = used = std::max(used, point.cores);
  }
}

double ScalingCurve::worth(Count of, double count, Beyond beyond) const {
  const Point& first = points_.front();
  if (count <= first.*of) return first.worth * count / first.*of;
  const Point& last = points_.back();
  if (count >= last.*of) {
    if (beyond == Beyond::kGoesOn || last.*of <= 1) return last.worth * count / last.*of;
    const double crowding = std::max(0.0, (last.*of / last.worth - 1) / (last.*of - 1));
    const double of_last = last.*of / (1 + crowding * (last.*of - 1));  // the same, unless it is above 1 each
    return last.worth / of_last * count / (1 + crowding * (count - 1));
  }
  const auto above = std::upper_bound(points_.begin(), points_.end(), count,
                                      [of](double value, const Point& point) { return value < point.*of; });
  const auto below = above - 1;
  const double part = (count - (*below).*of) / ((*above).*of - (*below).*of);
  return below->worth + part * (above->worth - below->worth);
}

double ScalingCurve::worth(double threads, double cores, Beyond beyond) const {
  return std::min(worth(&Point::threads, std::min(threads, cores), beyond), worth(&Point::cores, cores, beyond));
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
  const double like_these = cores / cores_ * worth(threads * cores_ / cores, cores_, Beyond::kCrowds);
  const double crowded = worth(threads, cores, Beyond::kCrowds), going_on = worth(threads, cores, Beyond::kGoesOn);
  const double least = std::min({like_these, crowded, going_on}), most = std::max({like_these, crowded, going_on});
  const double unmeasured = kUnmeasuredError * std::log2(std::max(1.0, at_work / points_.back().threads));
  return {std::sqrt(least * most), std::hypot(std::log(most / least) / 2, unmeasured, spread_near(at_work))};
}

}  // namespace stoker
