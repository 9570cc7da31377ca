#include "stoker/tuner/setting_beliefs.h"

#include <algorithm>
#include <cmath>

#include "stoker/tuner/tuning_words.h"

namespace stoker {
namespace {

constexpr double kDoubtMost = 0.008;    // beyond kEnough, if it may be but noise
constexpr double kHeed = 0.5;           // errors by which a rate is taken to be less: the fastest of many is so by luck
constexpr double kSpeedWorth = 0.3;     // of the rate within kEnough, against the costs below
constexpr double kUnlikely = 0.02;      // an explanation less likely than this does not count
constexpr double kFedError = 0.004;     // of what training does when it does not wait
constexpr double kThreadsCost = 0.04;   // what a doubling of the threads is worth, as a part of training's rate
constexpr double kCpuCost = 0.02;       // all of the cores' time,
constexpr double kDeviceCost = 0.01;    // all of the device's, and
constexpr double kPrefetchCost = 5e-4;  // a doubling of what is prefetched

double bell(double z) { return std::exp(-0.5 * z * z) * 0.3989422804014327; }
double below(double z) { return 0.5 * std::erfc(-z * 0.7071067811865476); }
// Of a normally distributed value, the expected part above a mark.
double above_mark(const Belief& belief, double mark) {
  if (belief.sd < 1e-9) return std::max(0.0, belief.mean - mark);
  const double z = (belief.mean - mark) / belief.sd;
  return belief.sd * (z * below(z) + bell(z));
}

}  // namespace

SettingBeliefs::SettingBeliefs(const TunedWorkload& workload, const TunerLimits& limits)
    : workload_(workload),
      grid_(workload, limits),
      model_(workload),
      trials_([this](const KnobSetting& knobs) { return model_.step_s(knobs).value_or(1); }) {
  learn_surfaces();
}

std::string SettingBeliefs::text_of(const KnobSetting& knobs) const { return knobs_text(knobs, has_device(workload_)); }

KnobSetting SettingBeliefs::first() const {
  double fastest = 0;
  const std::vector<KnobSetting> all = grid_.first();
  for (const KnobSetting& knobs : all) fastest = std::max(fastest, model_.capacity(knobs).throughput());
  KnobSetting cheapest = all.front();
  double least = std::numeric_limits<double>::infinity();
  for (const KnobSetting& knobs : all) {
    if (model_.capacity(knobs).throughput() < fastest * (1 - kEnough) || cost(knobs) >= least) continue;
    least = cost(knobs);
    cheapest = knobs;
  }
  return cheapest;
}

void SettingBeliefs::see(const KnobSetting& knobs, const TunerWindow& window, std::optional<Belief> before) {
  trials_.add(knobs, reading_of(window, workload_.batch), before);
  std::vector<PipelineModel::Rate> rates;
  for (const Trial& trial : trials_.all()) {
    rates.push_back({trial.knobs, trials_.rate_log(trial, 0), trial.mean(&WindowReading::wait_share)});
  }
  model_.learn(knobs, window, rates);
}

void SettingBeliefs::forget() {
  trials_.clear();
  model_.forget_windows();
  learn_surfaces();
}

void SettingBeliefs::see_again(const KnobSetting& knobs, const TunerWindow& window) {
  trials_.add(knobs, reading_of(window, workload_.batch), std::nullopt);
  model_.learn(knobs, window, {});
  learn_surfaces();
}

void SettingBeliefs::learn_surfaces() {
  surfaces_.assign(model_.explanations(), ResponseSurface());
  for (std::size_t i = 0; i < surfaces_.size(); ++i) {
    for (const Trial& trial : trials_.all()) {
      const double expected = std::log(model_.capacity(trial.knobs, i).throughput());
      const Belief rate = trials_.rate_log(trial);
      surfaces_[i].see(trial.knobs, rate.mean - expected, rate.sd);
    }
    surfaces_[i].learn();
  }
}

Belief SettingBeliefs::believe(const KnobSetting& knobs, std::size_t explanation) const {
  const Belief off = surfaces_[explanation].believe(knobs);
  return {std::log(model_.capacity(knobs, explanation).throughput()) + off.mean, off.sd};
}

Belief SettingBeliefs::believe(const KnobSetting& knobs) const {
  double mean = 0, square = 0;
  for (std::size_t i = 0; i < surfaces_.size(); ++i) {
    const Belief belief = believe(knobs, i);
    mean += model_.likelihood(i) * belief.mean;
    square += model_.likelihood(i) * (belief.mean * belief.mean + belief.sd * belief.sd);
  }
  return {mean, std::sqrt(std::max(square - mean * mean, 0.0))};
}

double SettingBeliefs::cost(const KnobSetting& knobs) const {
  const double rate = model_.capacity(knobs).throughput();
  const double cpu_share = std::min(1.0, model_.cpu_s(knobs) * rate / workload_.cores);
  const double device_share = std::min(1.0, model_.device_s(knobs.transfer_index) * rate);
  return kThreadsCost * std::log2(knobs.threads) + kCpuCost * cpu_share + kDeviceCost * device_share +
         kPrefetchCost * std::max(0.0, std::log2(knobs.prefetch) - std::log2(kPrefetchFirst));
}

std::vector<Standing> SettingBeliefs::standings() const {
  std::vector<Standing> all;
  for (const Trial& trial : trials_.all()) {
    if (grid_.permits(trial.knobs)) all.push_back({&trial, believe(trial.knobs), cost(trial.knobs)});
  }
  return all;
}

Standing SettingBeliefs::standing(const KnobSetting& knobs) const {
  return {trials_.find(knobs), believe(knobs), cost(knobs)};
}

double SettingBeliefs::fastest_of(const std::vector<Standing>& standings) {
  double fastest = kNoRate;
  for (const Standing& standing : standings) {
    fastest = std::max(fastest, standing.rate_log.mean - kHeed * standing.rate_log.sd);
  }
  return fastest;
}

// The cheaper one has the benefit of the doubt, within limits; among the cheap, a little speed counts for a little
// cost.
Standing SettingBeliefs::best_of(const std::vector<Standing>& standings) {
  const double fastest = fastest_of(standings);
  const Standing* best = nullptr;
  double most = kNoRate;
  for (const Standing& standing : standings) {
    const double slower = fastest - standing.rate_log.mean;
    if (slower > kEnough + std::min(0.7 * standing.rate_log.sd, kDoubtMost)) continue;
    const double worth = -standing.cost - kSpeedWorth * slower;
    if (worth <= most) continue;
    most = worth;
    best = &standing;
  }
  return *best;
}

Prospect SettingBeliefs::best_prospect(const Standing& best, double fastest) const {
  Prospect found;
  const std::vector<std::size_t> likely = likely_explanations();
  const bool depth_matters = std::any_of(likely.begin(), likely.end(), [&](std::size_t i) {
    return model_.capacity(best.trial->knobs, i).limit() == Resource::kStore;
  });
  const auto look_at = [&](const KnobSetting& knobs) {
    if (!depth_matters && knobs.io_depth != best.trial->knobs.io_depth) return;
    const double ceiling = rate_log_max(knobs, best);
    const double saved = best.cost - cost(knobs);
    if (ceiling <= fastest && saved <= 0) return;
    const double error = trials_.spread();
    double faster = 0, cheaper = 0;
    for (const std::size_t i : likely) {
      Belief belief = believe(knobs, i);
      // What one more window can teach.
      belief.sd = belief.sd * belief.sd / std::hypot(belief.sd, error);
      if (ceiling > fastest) {
        faster += model_.likelihood(i) * (above_mark(belief, fastest) - above_mark(belief, ceiling));
      }
      if (saved > 0 && ceiling >= fastest - kEnough) {
        cheaper += model_.likelihood(i) * saved * below((belief.mean - (fastest - kEnough)) / belief.sd);
      }
    }
    if (faster + cheaper > found.gain) found = {knobs, faster + cheaper, faster};
  };
  for (const KnobSetting& knobs : grid_.around(best.trial->knobs)) {
    if (!trials_.find(knobs)) look_at(knobs);
  }
  for (const Trial& trial : trials_.all()) {
    if (trial.count() < kTrialWindows && grid_.permits(trial.knobs)) look_at(trial.knobs);
  }
  if (found.gain > 0) found.rate_log = believe(found.knobs);
  return found;
}

// Where the index was not tried: if what the kernels take less than at the best shortens its steps by as much, and what
// they take more lengthens them by nothing.
double SettingBeliefs::rate_log_max(const KnobSetting& knobs, const Standing& best) const {
  const auto fed = [&](const Belief& step_log) { return std::log(workload_.batch) - step_log.mean; };
  if (const std::optional<Belief> step_log = trials_.step_log(knobs)) return fed(*step_log) + kFedError;
  KnobSetting from_here = knobs;
  const int from = from_here.transfer_index = best.trial->knobs.transfer_index;
  const Belief step_log = *trials_.step_log(from_here);
  const double less_s = workload_.batch * (model_.device_s(from) - model_.device_s(knobs.transfer_index));
  const double relief = less_s <= 0 ? 0 : -std::log1p(-std::min(less_s / std::exp(step_log.mean), 0.95));
  return fed(step_log) + relief + kFedError;
}

std::vector<std::size_t> SettingBeliefs::likely_explanations() const {
  std::vector<std::size_t> likely;
  for (std::size_t i = 0; i < model_.explanations(); ++i) {
    if (model_.likelihood(i) >= kUnlikely) likely.push_back(i);
  }
  return likely;
}

Resource SettingBeliefs::limit_of(const Trial& trial) const {
  if (trial.mean(&WindowReading::wait_share) < kWaitsLittle) return Resource::kConsumer;
  const Resource limit = model_.capacity(trial.knobs).limit();
  return limit == Resource::kConsumer ? Resource::kOther : limit;
}

// An explanation by which training is held by itself, though it waits, explains nothing.
bool SettingBeliefs::may_hold(Resource resource, const Trial& trial) const {
  const std::vector<std::size_t> likely = likely_explanations();
  return std::any_of(likely.begin(), likely.end(), [&](std::size_t i) {
    const Resource limit = model_.capacity(trial.knobs, i).limit();
    return limit == resource || limit == Resource::kOther || limit == Resource::kConsumer;
  });
}

}  // namespace stoker
