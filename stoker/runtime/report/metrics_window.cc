#include "stoker/runtime/report/metrics_window.h"

namespace stoker {
namespace {

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

MetricsWindow::MetricsWindow(const Metrics& end) : values_(end.values) {}

MetricsWindow::MetricsWindow(const Metrics& begin, const Metrics& end)
    : values_(end.values), seconds_(static_cast<double>(end.at_ns - begin.at_ns) * 1e-9) {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (metric_table()[i].kind == MetricKind::kCounter) values_[i] -= begin.values[i];
  }
}

double MetricsWindow::samples_per_s() const { return ratio(static_cast<double>((*this)[Metric::kSamples]), seconds_); }

double MetricsWindow::wait_share() const { return ratio(wait_s(), seconds_); }

std::optional<double> MetricsWindow::step_s() const {
  const std::int64_t steps = (*this)[Metric::kConsumerSteps];
  if (steps == 0) return std::nullopt;
  return seconds_of(Metric::kConsumerStepNs) / static_cast<double>(steps);
}

std::vector<StageTime> MetricsWindow::stages() const {
  std::vector<StageTime> stages;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const MetricSpec& spec = metric_table()[i];
    if (spec.stage.empty() || values_[i] == 0) continue;
    stages.push_back({spec.stage, spec.side, static_cast<double>(values_[i]) * 1e-9});
  }
  return stages;
}

double MetricsWindow::mean(Metric level_ns) const { return ratio(seconds_of(level_ns), seconds_); }

}  // namespace stoker
