#include "stoker/device/step_log.h"

#include <cassert>

namespace stoker {
namespace {

double seconds_between(std::int64_t begin_ns, std::int64_t end_ns) {
  return static_cast<double>(end_ns - begin_ns) * 1e-9;
}

}  // namespace

void StepLog::start_epoch(std::int64_t at_ns) {
  epochs_.emplace_back();
  began_ns_ = at_ns;
}

void StepLog::end_step(std::int64_t samples, const StepEnd& end) {
  assert(!epochs_.empty());
  EpochSteps& epoch = epochs_.back();
  ++epoch.steps;
  epoch.samples += samples;
  epoch.seconds = seconds_between(began_ns_, end.real_ns);
  if (epoch.steps == 1) {
    first_ended_ns_ = end.nominal_ns;
    return;
  }
  const double compute_s = step_seconds_ * static_cast<double>(epoch.steps - 1);
  const double total_s = seconds_between(first_ended_ns_, end.real_ns);
  if (total_s > 0) epoch.utilisation_percent = 100 * compute_s / total_s;
}

}  // namespace stoker
