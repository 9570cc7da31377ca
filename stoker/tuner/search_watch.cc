#include "stoker/tuner/search_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace stoker {
namespace {

constexpr double kOddLeast = 0.2;  // steps or costs that are off by more, as a logarithm
constexpr double kCalmSpreadLeast = 0.03;
constexpr int kCompareAge = 4;  // windows after which a setting is worth another look before it settles

}  // namespace

void SearchWatch::begin() {
  returned_ = compared_ = false;
  unlike_.reset();
  odd_least_ = kOddLeast;
}

double SearchWatch::oddness(const SettingBeliefs& beliefs, const KnobSetting& knobs, const TunerWindow& window) {
  const int batch = beliefs.workload().batch;
  const PipelineModel& model = beliefs.model();
  const double step_log = reading_of(window, batch).step_log;
  double step_off = 0;
  if (const std::optional<Belief> expected = beliefs.trials().step_log(knobs)) {
    step_off = std::max(0.0, std::abs(step_log - expected->mean) - 2 * expected->sd);
  } else if (const std::optional<double> step_s = model.step_s(knobs)) {
    // Another index's kernels lengthen the step by another part.
    const double kernels = std::log1p(batch * model.device_s(0) / *step_s);
    step_off = std::max(0.0, std::abs(step_log - std::log(*step_s)) - kernels);
  }
  return std::max(step_off, std::abs(model.cost_off(knobs, window)));
}

// Not as what may be a change makes it.
double SearchWatch::spread(const SettingBeliefs& beliefs) const {
  return std::min(beliefs.trials().spread(), std::max(calm_spread_, kCalmSpreadLeast));
}

std::optional<Departure> SearchWatch::changed(const SettingBeliefs& beliefs, const KnobSetting& knobs) const {
  return departure(*beliefs.trials().find(knobs), spread(beliefs), 2);
}

// What is odd at a new setting may be the setting's own: going back to one that is known tells.
std::optional<SearchWatch::Check> SearchWatch::check(const SettingBeliefs& beliefs, const KnobSetting& knobs,
                                                     double odd) {
  if (const auto perhaps = departure(*beliefs.trials().find(knobs), spread(beliefs), 1)) {
    return Check{knobs, fmt::format("measures {} again: it seems that {} ({:+.0f}%)", beliefs.text_of(knobs),
                                    perhaps->what, 100 * std::expm1(perhaps->by))};
  }
  calm_spread_ = beliefs.trials().spread();
  // The first window after it went back may be in part of the setting before; the next one tells.
  if (std::exchange(returned_, false)) {
    return Check{knobs, fmt::format("measures {} again, to see whether something has changed", beliefs.text_of(knobs))};
  }
  if (odd < odd_least_) return std::nullopt;
  const Trial* known = nullptr;
  for (const Trial& trial : beliefs.trials().all()) {
    if (trial.knobs == knobs || !beliefs.grid().permits(trial.knobs)) continue;
    if (trial.count() < kTrialWindows && (!known || trial.age < known->age)) known = &trial;
  }
  if (!known) return std::nullopt;
  returned_ = true;
  unlike_ = knobs;
  odd_least_ = 1.5 * odd;  // if nothing has changed, settings differ by so much
  return Check{known->knobs, fmt::format("returns to {}: {} is so different that something may have changed",
                                         beliefs.text_of(known->knobs), beliefs.text_of(knobs))};
}

// If it does as it did, what was seen since still holds. A change between two settings that were tried once each shows
// in no other comparison.
std::optional<SearchWatch::Check> SearchWatch::last_check(const SettingBeliefs& beliefs, const Standing& best) {
  if (compared_) return std::nullopt;
  const Trial* oldest = nullptr;
  for (const Trial& trial : beliefs.trials().all()) {
    if (&trial == best.trial || trial.age < kCompareAge || !beliefs.grid().permits(trial.knobs)) continue;
    if (!oldest || trial.age > oldest->age) oldest = &trial;
  }
  if (!oldest) return std::nullopt;
  compared_ = true;
  return Check{oldest->knobs, fmt::format("returns to {} before settling, to see whether something has changed",
                                          beliefs.text_of(oldest->knobs))};
}

KnobSetting SearchWatch::take_tried(const KnobSetting& knobs) {
  return std::exchange(unlike_, std::nullopt).value_or(knobs);
}

void SearchWatch::narrow(const KnobGrid& grid) {
  if (unlike_ && !grid.permits(*unlike_)) unlike_.reset();
}

}  // namespace stoker
