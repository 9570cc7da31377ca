#include "stoker/runtime/report/step_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "stoker/base/units.h"

namespace stoker {
namespace {

// Between the two values around that place.
double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

}  // namespace

StepSummary summary_of(std::vector<double> seconds) {
  if (seconds.empty()) return {};
  std::sort(seconds.begin(), seconds.end());
  const auto count = static_cast<std::int64_t>(seconds.size());
  return {.count = count,
          .mean_s = std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(count),
          .median_s = quantile(seconds, 0.5),
          .low_s = quantile(seconds, 0.25),
          .high_s = quantile(seconds, 0.75)};
}

std::string step_text(double seconds) {
  return seconds < 0.95 ? fmt::format("{:.3g} ms", seconds * 1e3) : format_duration(seconds);
}

void StepTimes::add(std::int64_t step_ns, std::int64_t wait_ns) {
  const std::lock_guard lock(mutex_);
  steps_[static_cast<std::size_t>(count_++) % kKept] = {step_ns, wait_ns};
}

std::int64_t StepTimes::count() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

StepSummary StepTimes::summary(bool with_waits) const {
  std::vector<double> seconds;
  {
    const std::lock_guard lock(mutex_);
    const auto kept = std::min(static_cast<std::size_t>(count_), kKept);
    for (std::size_t i = 0; i < kept; ++i) {
      seconds.push_back(static_cast<double>(steps_[i].step_ns + (with_waits ? steps_[i].wait_ns : 0)) * 1e-9);
    }
  }
  return summary_of(std::move(seconds));
}

}  // namespace stoker
