#include "stoker/runtime/tuning/tuning_window.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace stoker {
namespace {

// A period longer than so many steps, and than this time, does not count as a step.
constexpr std::int64_t kPauseSteps = 10;
constexpr std::int64_t kPauseLeastNs = 100'000'000;

std::int64_t all_ns(const BatchPeriod& period) { return period.step_ns + period.wait_ns; }

}  // namespace

void TuningWindow::begin(int skip, const TuningWindowLimits& limits) {
  limits_ = limits;
  to_skip_ = skip;
  made_ = delivered_ = seconds_ns_ = 0;
  pairs_sum_ = pairs_squares_ = 0;
  periods_.clear();
}

void TuningWindow::add(const BatchPeriod& period) {
  if (to_skip_ > 0) {
    --to_skip_;
    return;
  }
  made_ += period.made;
  ++delivered_;
  seconds_ns_ += all_ns(period);
  periods_.push_back(period);
  if (periods_.size() % 2 != 0) return;
  const auto pair = static_cast<double>(all_ns(periods_[periods_.size() - 2]) + all_ns(period));
  pairs_sum_ += pair;
  pairs_squares_ += pair * pair;
}

bool TuningWindow::complete() const {
  if (static_cast<int>(periods_.size()) < limits_.batches_least || seconds_ns_ < limits_.seconds_least_ns) return false;
  return seconds_ns_ >= limits_.seconds_most_ns || mean_error() <= limits_.error_most;
}

// The relative standard error of the mean period. Consecutive periods balance each other out, since after a late batch
// the wait for the next one is shorter: so it is computed from pairs.
double TuningWindow::mean_error() const {
  const std::size_t count = periods_.size() / 2;
  if (count < 2) return std::numeric_limits<double>::max();
  const auto pairs = static_cast<double>(count);
  const double mean = pairs_sum_ / pairs;
  const double variance = std::max(0.0, pairs_squares_ / pairs - mean * mean) * pairs / (pairs - 1);
  return mean > 0 ? std::sqrt(variance / pairs) / mean : 0;
}

std::int64_t TuningWindow::middle_step_ns() const {
  std::vector<std::int64_t> steps;
  for (const BatchPeriod& period : periods_) steps.push_back(period.step_ns);
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  return *middle;
}

bool TuningWindow::is_pause(const BatchPeriod& period, std::int64_t middle_step_ns) const {
  return period.step_ns > std::max(kPauseSteps * middle_step_ns, kPauseLeastNs);
}

TuningWindow::Result TuningWindow::result() const {
  if (periods_.empty()) return {};
  const std::int64_t middle_ns = middle_step_ns();
  std::int64_t steps = 0, step_ns = 0, wait_ns = 0, made = 0;
  for (const BatchPeriod& period : periods_) {
    if (is_pause(period, middle_ns)) continue;
    ++steps;
    step_ns += period.step_ns;
    wait_ns += period.wait_ns;
    made += period.made;
  }
  Result result;
  result.seconds = static_cast<double>(step_ns + wait_ns) * 1e-9;
  result.wait_s = static_cast<double>(wait_ns) * 1e-9;
  result.step_s = static_cast<double>(step_ns) * 1e-9 / static_cast<double>(steps);
  result.samples = static_cast<double>(steps * batch_);
  // A difference of less than half a batch is noise.
  const auto used_up = static_cast<double>(steps * batch_ - made);
  if (used_up > 0.5 * batch_) {
    result.samples = std::max(static_cast<double>(made), 0.1 * result.samples);
    const double at_work_s = result.samples / batch_ * result.step_s;
    result.wait_s = std::max(result.wait_s, result.seconds - at_work_s);
  }
  return result;
}

}  // namespace stoker
