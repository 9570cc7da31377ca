#include "stoker/device/accelerator.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/parse_number.h"
#include "stoker/base/spelling.h"

namespace stoker {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr double kStepSecondsMax = 86'400;

double seconds(std::int64_t ns) { return static_cast<double>(ns) / static_cast<double>(kNsPerSecond); }

}  // namespace

double accelerator_step_seconds(std::string_view text, int batch) {
  if (const std::optional<double> number = parse_number<double>(text)) {
    if (*number > 0 && *number <= kStepSecondsMax) return *number;
    fail(ErrorKind::kUsage, "an accelerator's step takes more than 0 and at most {} seconds, not {}", kStepSecondsMax,
         text);
  }
  if (const AcceleratorProfile* profile = find_accelerator_profile(text)) {
    return profile->seconds_per_step * batch / profile->batch;
  }
  // All of them would be too many to read: those of the workload that was named, or the workloads.
  const std::string_view before_gpu = text.substr(0, std::min(text.size(), text.find('/') + 1));
  std::vector<std::string> names, of_workload, workloads;
  for (const AcceleratorProfile& profile : accelerator_profiles()) {
    names.emplace_back(profile.name);
    if (!before_gpu.empty() && profile.name.starts_with(before_gpu)) of_workload.emplace_back(profile.name);
  }
  for (const TrainingWorkload* workload : training_workloads()) workloads.emplace_back(workload->name);
  const std::string choices = of_workload.empty()
                                  ? fmt::format("mlperf:NAME/GPU, where NAME is {}", fmt::join(workloads, ", "))
                                  : fmt::format("one of {}", fmt::join(of_workload, ", "));
  fail(ErrorKind::kUsage, "'{}' is not an accelerator{}; give the seconds of a step, or {}", text,
       did_you_mean(text, names), choices);
}

void sleep_until(std::int64_t deadline_ns) {
  // base/clock.h reads steady_clock, which is CLOCK_MONOTONIC on Linux.
  const timespec deadline{deadline_ns / kNsPerSecond, deadline_ns % kNsPerSecond};
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nullptr) == EINTR) {
  }
}

EmulatedAccelerator::EmulatedAccelerator(double seconds_per_step, WaitUntil wait_until)
    : step_ns_(std::llround(seconds_per_step * static_cast<double>(kNsPerSecond))),
      wait_until_(std::move(wait_until)) {}

void EmulatedAccelerator::step(std::int64_t ready_ns) {
  const std::int64_t free_at = free_at_ns_.value_or(ready_ns);
  const std::int64_t start = std::max(free_at, ready_ns);
  wait_ns_ += start - free_at;
  busy_ns_ += step_ns_;
  free_at_ns_ = start + step_ns_;
  try {
    wait_until_(*free_at_ns_);
  } catch (...) {  // the step was cut short: only what passed of it was work
    const std::int64_t left_ns = std::clamp<std::int64_t>(*free_at_ns_ - now_ns(), 0, step_ns_);
    busy_ns_ -= left_ns;
    *free_at_ns_ -= left_ns;
    throw;
  }
}

double EmulatedAccelerator::busy_s() const { return seconds(busy_ns_); }

double EmulatedAccelerator::wait_s() const { return seconds(wait_ns_); }

double EmulatedAccelerator::utilisation() const {
  return busy_ns_ == 0 ? 0 : static_cast<double>(busy_ns_) / static_cast<double>(busy_ns_ + wait_ns_);
}

}  // namespace stoker
