#include "stoker/runtime/report/step_keeper.h"

#include <ctime>

#include "stoker/base/clock.h"
#include "stoker/base/machine.h"

namespace stoker {
namespace {

constexpr std::int64_t kKeepAgainNs = 60'000'000'000;

}  // namespace

void StepKeeper::rest(const StepTimes& steps, const LoaderReport& report) {
  const bool is_due = kept_ns_ == 0 || now_ns() - kept_ns_ > kKeepAgainNs;
  if (!is_due || report.headspace || steps.count() < kStepsLeast || !report.samples_per_s_needed()) return;
  save(steps.alone(), "waits");
}

void StepKeeper::save(const StepSummary& steps, const char* how) {
  kept_.save({.median_s = steps.median_s,
              .low_s = steps.low_s,
              .high_s = steps.high_s,
              .count = steps.count,
              .batch = batch_,
              .world = world_,
              .how = how,
              .machine = machine_name(),
              .recorded_s = std::time(nullptr)});
  kept_ns_ = now_ns();
}

}  // namespace stoker
