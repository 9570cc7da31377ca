#include "stoker/tuner/trials.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "stoker/tuner/statistics.h"

namespace stoker {
namespace {

constexpr double kSpreadBefore = 0.015;    // expected of windows before any were compared, and
constexpr double kSpreadBeforeCount = 6;   // how many it counts for
constexpr double kStepDiffers = 0.006;     // how much threads may lengthen or shorten the consumer's own steps
constexpr double kPaceWaitShare = 0.03;    // a consumer that waits much more than this does not set the pace
constexpr Belief kCarryBefore = {0, 0.3};  // of first windows before any were compared
constexpr double kCarryVaries = 0.07;      // from one to another
constexpr double kCarryKnown = 0.06;       // error with which it is
constexpr double kCarryMost = 0.95;
constexpr double kJumpLeast = 0.05;  // smaller ones tell nothing of that

// Of a setting, the latest: it may stay for weeks, and more would say no more of it.
constexpr std::size_t kWindowsKept = 64;

// The oldest, unless no other shows the setting alone.
void forget_one(std::vector<Trial::Window>& windows) {
  const auto shows_it_alone = [](const Trial::Window& window) { return !window.before; };
  const bool is_needed =
      shows_it_alone(windows.front()) && std::none_of(windows.begin() + 1, windows.end(), shows_it_alone);
  windows.erase(windows.begin() + (is_needed ? 1 : 0));
}

// From how later windows of one setting lie about their middle: the median of the distances does not mind a few that
// are far.
double spread_of(const std::vector<Trial>& trials, double WindowReading::*part) {
  std::vector<double> distances;
  double freedom = 0, all = 0;
  for (const Trial& trial : trials) {
    std::vector<double> values;
    for (const Trial::Window& window : trial.windows) {
      if (std::abs(window.jump()) < kJumpLeast) values.push_back(window.reading.*part);
    }
    if (values.size() < 2) continue;
    const double middle = median(values);
    for (const double value : values) distances.push_back(std::abs(value - middle));
    freedom += static_cast<double>(values.size() - 1);
    all += static_cast<double>(values.size());
  }
  if (distances.empty()) return kSpreadBefore;
  constexpr double kSdPerMedianDistance = 1.4826;  // of a normal distribution
  const double seen = median(std::move(distances)) * kSdPerMedianDistance * std::sqrt(all / freedom);
  return std::sqrt((square(seen) * freedom + square(kSpreadBefore) * kSpreadBeforeCount) /
                   (freedom + kSpreadBeforeCount));
}

}  // namespace

WindowReading reading_of(const TunerWindow& window, int batch) {
  const auto samples = static_cast<double>(window.samples);
  const double busy_s = std::max(window.seconds - window.wait_s, 1e-3 * window.seconds);
  double stages_s[2] = {};
  for (const TunerWindow::Stage& stage : window.stages) stages_s[stage.side == StageSide::kDevice] += stage.seconds;
  return {std::log(samples / window.seconds), std::log(busy_s * batch / samples), window.wait_s / window.seconds,
          std::log(stages_s[0] / samples + kNoSeconds), std::log(stages_s[1] / samples + kNoSeconds)};
}

WindowReading own_reading(const WindowReading& seen, const WindowReading& before) {
  constexpr double kBeforeMost = 0.7;
  // `unit`: -1 for what is seconds only when turned over.
  const auto rest = [&](double WindowReading::*part, double unit) {
    const double took = std::exp(unit * (seen.*part)), of_before = kBeforeMost * std::exp(unit * (before.*part));
    return unit * std::log(std::max((took - of_before) / (1 - kBeforeMost), kNoSeconds));
  };
  WindowReading reading = seen;
  reading.rate_log = rest(&WindowReading::rate_log, -1);
  for (const auto part : {&WindowReading::step_log, &WindowReading::cpu_log, &WindowReading::device_log}) {
    reading.*part = rest(part, 1);
  }
  return reading;
}

double Trial::mean(double WindowReading::*part) const {
  double sums[2] = {};
  int counts[2] = {};
  for (const Window& window : windows) {
    const bool first = window.before.has_value();
    sums[first] += window.reading.*part;
    ++counts[first];
  }
  return counts[0] > 0 ? sums[0] / counts[0] : sums[1] / counts[1];
}

Trials::Trials(std::function<double(const KnobSetting&)> expected_step_s)
    : expected_step_s_(std::move(expected_step_s)), carry_(kCarryBefore) {
  clear();
}

void Trials::clear() {
  trials_.clear();
  last_.reset();
  last_own_.reset();
  spread_ = step_spread_ = kSpreadBefore;
}

void Trials::add(const KnobSetting& knobs, const WindowReading& reading, std::optional<Belief> before) {
  for (Trial& trial : trials_) ++trial.age;
  auto at = std::find_if(trials_.begin(), trials_.end(), [&](const Trial& trial) { return trial.knobs == knobs; });
  if (at == trials_.end()) {
    at = trials_.insert(trials_.end(), Trial{});
    at->knobs = knobs;
  }
  at->windows.push_back({reading, before, before ? last_ : std::nullopt, before ? last_own_ : std::nullopt});
  if (at->windows.size() > kWindowsKept) forget_one(at->windows);
  last_own_ = before && last_ ? std::optional(own_reading(reading, *last_)) : std::nullopt;
  last_ = reading;
  at->age = 0;
  if (!before) learn_carry(*at);
  learn_spread();
}

const Trial* Trials::find(const KnobSetting& knobs) const {
  const auto at =
      std::find_if(trials_.begin(), trials_.end(), [&](const Trial& trial) { return trial.knobs == knobs; });
  return at == trials_.end() ? nullptr : &*at;
}

bool Trials::knows_carry() const { return carry_.sd <= kCarryKnown; }

// The first window after a change may in part be of the setting before: batches that were ready, or a queue that had to
// fill. The second one tells. Where a part c of the samples took as long as before, all of them together took
// c / before + (1 - c) / now each.
void Trials::learn_carry(const Trial& trial) {
  if (trial.count() < 2) return;
  const Trial::Window& first = trial.windows[trial.windows.size() - 2];
  if (!first.before) return;
  const double jump = trial.windows.back().reading.rate_log - first.before->mean;
  if (std::abs(jump) < std::max(kJumpLeast, 4 * spread_)) return;
  const double took = std::exp(-first.jump()), takes = std::exp(-jump);  // a sample, as multiples of before
  const double carry = std::clamp((took - takes) / (1 - takes), -0.5, kCarryMost);
  const double error =
      std::hypot(spread_ * took, spread_ * takes * (1 - carry), first.before->sd * carry) / std::abs(1 - takes);
  const double weight = 1 / (square(error) + square(kCarryVaries)), known = 1 / square(carry_.sd);
  carry_ = {(known * carry_.mean + weight * carry) / (known + weight), 1 / std::sqrt(known + weight)};
}

// What the setting does by itself, from a first window.
Belief Trials::without_carry(const Trial::Window& window) const {
  if (!window.before) return {window.reading.rate_log, spread_};
  const double took = std::exp(-window.jump());
  const double carry = std::min(carry_.mean, 0.9 * took);  // more cannot have been
  const double takes = (took - carry) / (1 - carry);
  const double by_carry = (took - 1) / ((1 - carry) * (took - carry)) * std::hypot(carry_.sd, kCarryVaries);
  const double by_before = carry / (took - carry) * window.before->sd;
  return {window.before->mean - std::log(takes), std::hypot(spread_ * took / (took - carry), by_carry, by_before)};
}

void Trials::learn_spread() {
  spread_ = spread_of(trials_, &WindowReading::rate_log);
  step_spread_ = spread_of(trials_, &WindowReading::step_log);
}

// The first window after a change says nothing new where later ones are, unless first ones were found to be as good.
bool Trials::counts(const Trial& trial, const Trial::Window& window) const {
  if (!window.before) return true;
  if (knows_carry() && std::abs(carry_.mean) < 0.1) return true;
  return std::all_of(trial.windows.begin(), trial.windows.end(),
                     [](const Trial::Window& other) { return other.before.has_value(); });
}

// Each window counts by what it is worth, and those far from the middle little.
Belief Trials::middle_rate(const Trial& trial, double drift_per_window) const {
  std::vector<double> values, weights;
  for (const Trial::Window& window : trial.windows) {
    if (!counts(trial, window)) continue;
    const Belief rate = without_carry(window);
    values.push_back(rate.mean);
    weights.push_back(1 / square(rate.sd));
  }
  // Windows are disturbed to be slow, seldom to be fast: of two that disagree the faster one is believed.
  const double middle = values.size() > 2 ? median(values) : *std::max_element(values.begin(), values.end());
  const bool agree = values.size() < 3 && middle - *std::min_element(values.begin(), values.end()) < 3 * spread_;
  double sum = 0, weight = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double far = 1.5 / std::sqrt(weights[i]);
    sum += weights[i] * (agree ? values[i] : middle + std::clamp(values[i] - middle, -far, far));
    weight += weights[i];
  }
  return {sum / weight, std::hypot(1 / std::sqrt(weight), drift_per_window * trial.age)};
}

Belief Trials::rate_log(const Trial& trial, double drift_per_window) const {
  const Belief rate = middle_rate(trial, drift_per_window);
  const double step = trial.mean(&WindowReading::step_log);
  // All settings of an index are taken to have the same step, unless their windows say otherwise.
  const double alike_windows = square(step_spread_ / kStepDiffers);
  const double alike = alike_windows / (alike_windows + trial.count());
  const double sets_pace = std::exp(-trial.mean(&WindowReading::wait_share) / kPaceWaitShare);
  const double common = sets_pace * alike;  // part of how windows differ that is rid of
  const double step_alike = step_log(trial.knobs)->mean;
  return {rate.mean + common * (step - step_alike), rate.sd * (1 - 0.8 * common)};
}

std::optional<Belief> Trials::step_log(const KnobSetting& knobs) const {
  double sum = 0;
  int windows = 0;
  for (const Trial& trial : trials_) {
    if (trial.knobs.transfer_index != knobs.transfer_index) continue;
    sum += (trial.mean(&WindowReading::step_log) - std::log(expected_step_s_(trial.knobs))) * trial.count();
    windows += trial.count();
  }
  if (windows == 0) return std::nullopt;
  return Belief{sum / windows + std::log(expected_step_s_(knobs)), step_spread_ / std::sqrt(windows)};
}

}  // namespace stoker
