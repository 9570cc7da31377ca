#include "stoker/tuner/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "stoker/base/units.h"
#include "stoker/tuner/departure.h"
#include "stoker/tuner/tuning_words.h"

namespace stoker {
namespace {

constexpr double kEnough = 0.012;       // by which the best may be slower than the fastest, if it is cheaper
constexpr double kDoubtMost = 0.008;    // beyond that, if it may be but noise
constexpr double kHeed = 0.5;           // errors by which a rate is taken to be less: the fastest of many is so by luck
constexpr double kSpeedWorth = 0.3;     // of the rate within that, against the costs below
constexpr double kUnlikely = 0.02;      // an explanation less likely than this does not count
constexpr double kFedError = 0.004;     // of what training does when it does not wait
constexpr double kGainLeast = 0.003;    // a setting that promises less is not tried
constexpr double kThreadsCost = 0.04;   // what a doubling of the threads is worth, as a part of training's rate
constexpr double kCpuCost = 0.02;       // likewise all of the cores' time,
constexpr double kDeviceCost = 0.01;    // all of the device's, and
constexpr double kPrefetchCost = 5e-4;  // a doubling of what is prefetched
constexpr double kIoDepthCost = 2e-4;
constexpr int kSearchWindows = 42;       // at most, from a cold start
constexpr int kSearchAgainWindows = 20;  // after a change
constexpr int kDepthsAfter = 6;          // windows; before, something is found that the store does not hold back
constexpr int kUntriedAfter = 12;        // windows, those promising most, knobs that were never turned are tried; for
constexpr int kUntriedWindows = 3;       // more than the search, if need be
constexpr double kThreadsSpare = 0.4;    // of what the CPU carries, above the fastest: threads also hold up each other
constexpr double kAsManyThreads = 0.35;  // doublings by which they may differ
constexpr double kOddLeast = 0.2;        // steps or costs that are off by more, as a logarithm
constexpr double kCalmSpreadLeast = 0.03;
constexpr int kCompareAge = 4;         // windows after which a setting is worth another look before it rests
constexpr int kTrialWindows = 8;       // more would say no more of one setting
constexpr int kConfirmWindows = 4;     // of the best, before it is settled upon; more where they differ much, up to
constexpr int kConfirmMost = 54;       // windows since the search began, from a cold start,
constexpr int kConfirmAgainMost = 25;  // and after a change
constexpr double kSureEnough = 0.006;  // error of a rate that is believed
constexpr double kHardlyKnown = 0.08;  // of one that is not
// Of how a setting did before a change, as to how it does now: as much as what was seen to change.
constexpr double kPastErrorLeast = 0.03, kPastErrorMost = 0.06;
constexpr std::size_t kPastMax = 24;
constexpr double kJumpToCheck = 0.08;   // of the rate, from one setting to another
constexpr int kProbeEvery = 90;         // windows in which nothing changed
constexpr int kProbeWaiting = 40;       // where training waits, the first time; then after twice as many, each time,
constexpr int kProbeWaitingMost = 160;  // up to this
constexpr double kProbeDrift = 0.002;   // for it: by how much other settings may have become better in each of them
constexpr double kProbeGain = 0.01;
constexpr double kChangeLeast = 0.03;         // of the rate; smaller ones are not looked into
constexpr double kCostChangeLeast = 0.05;     // likewise of the training's steps and of what a sample costs
constexpr double kChangeSpreadLeast = 0.005;  // of windows, as far as changes are concerned
constexpr double kWaitsLittle = 0.01;         // the consumer, of the time

constexpr double kNone = -std::numeric_limits<double>::infinity();

double bell(double z) { return std::exp(-0.5 * z * z) * 0.3989422804014327; }
double below(double z) { return 0.5 * std::erfc(-z * 0.7071067811865476); }
// Of a normally distributed value, the expected part above a mark.
double above_mark(const Belief& belief, double mark) {
  if (belief.sd < 1e-9) return std::max(0.0, belief.mean - mark);
  const double z = (belief.mean - mark) / belief.sd;
  return belief.sd * (z * below(z) + bell(z));
}

std::string rate_text(double rate_log) { return number_text(std::exp(rate_log)) + "/s"; }

}  // namespace

Tuner::Tuner(const TunedWorkload& workload, TunerOptions options)
    : workload_(workload),
      options_(std::move(options)),
      grid_(workload, options_.limits),
      model_(workload),
      trials_([this](const KnobSetting& knobs) { return model_.step_s(knobs).value_or(1); }),
      odd_least_(kOddLeast),
      search_windows_max_(kSearchWindows),
      confirm_windows_max_(kConfirmMost) {
  if (options_.start) {
    knobs_ = grid_.permitted(*options_.start);
    why_ = fmt::format("begins with {}: {}", text_of(knobs_), options_.start_is);
  } else {
    double fastest = 0;
    const std::vector<KnobSetting> all = grid_.first();
    for (const KnobSetting& knobs : all) fastest = std::max(fastest, model_.capacity(knobs).throughput());
    knobs_ = all.front();
    double least = std::numeric_limits<double>::infinity();
    for (const KnobSetting& knobs : all) {
      if (model_.capacity(knobs).throughput() < fastest * (1 - kEnough) || cost(knobs) >= least) continue;
      least = cost(knobs);
      knobs_ = knobs;
    }
    const PipelineCapacity capacity = model_.capacity(knobs_);
    why_ = fmt::format("begins with {}: by the stages' costs that can make {} samples/s, held by {}", text_of(knobs_),
                       number_text(capacity.throughput()), word_of(capacity.limit()));
  }
  learn_surfaces(Trials::kDriftPerWindow);
  expected_ = believe(knobs_);
}

std::string Tuner::text_of(const KnobSetting& knobs) const { return knobs_text(knobs, has_device(workload_)); }

void Tuner::see(const TunerWindow& window) {
  if (window.samples <= 0 || window.seconds <= 0) return;
  const WindowReading now = read(window);
  const bool moved = last_ && last_knobs_ != knobs_;
  const double odd = oddness(now, window);
  trials_.add(knobs_, now, moved ? std::optional(rate_before()) : std::nullopt);
  std::vector<PipelineModel::Rate> rates;
  for (const Trial& trial : trials_.all()) {
    rates.push_back({trial.knobs, trials_.rate_log(trial, 0), trial.mean(&WindowReading::wait_share)});
  }
  model_.learn(knobs_, window, rates);
  last_knobs_ = knobs_;
  if (phase_ == Phase::kProbe) {
    judge_probe(now, moved);
  } else if (phase_ == Phase::kSettled) {
    if (!moved) watch(now);
  } else {
    if (!notice_change(now, window, odd)) {
      ++searched_windows_;
      search();
    }
  }
  last_ = now;
}

// How far the steps, or what a sample costs, are from what other settings let expect, beyond what they may differ by.
double Tuner::oddness(const WindowReading& now, const TunerWindow& window) const {
  const double cost_off = std::abs(model_.cost_off(knobs_, window));
  double step_off = 0;
  if (const std::optional<Belief> expected = trials_.step_log(knobs_)) {
    step_off = std::max(0.0, std::abs(now.step_log - expected->mean) - 2 * expected->sd);
  } else if (const std::optional<double> step_s = model_.step_s(knobs_)) {
    // Another index's kernels lengthen the step by another part.
    const double kernels = std::log1p(workload_.batch * model_.device_s(0) / *step_s);
    step_off = std::max(0.0, std::abs(now.step_log - std::log(*step_s)) - kernels);
  }
  return std::max(step_off, cost_off);
}

// Settings that were tried before something changed cannot be compared with those that are tried after it. What is odd
// at a new setting may be the setting's own: going back to one that is known tells.
bool Tuner::notice_change(const WindowReading& now, const TunerWindow& window, double odd) {
  const Trial& here = *trials_.find(knobs_);
  // Not as what may be a change makes it.
  const double spread = std::min(trials_.spread(), std::max(calm_spread_, kCalmSpreadLeast));
  if (const std::optional<Departure> changed = departure(here, spread, 2)) {
    reopen(changed->what, changed->by);
    trials_.add(knobs_, now, std::nullopt);
    model_.learn(knobs_, window, {});
    learn_surfaces(Trials::kDriftPerWindow);
    return true;
  }
  if (const std::optional<Departure> perhaps = departure(here, spread, 1)) {
    go_to(knobs_, fmt::format("{} again: {}, it seems ({:+.0f}%)", text_of(knobs_), perhaps->what,
                              100 * std::expm1(perhaps->by)));
    return true;
  }
  calm_spread_ = trials_.spread();
  if (returned_) {
    // The first window here may be in part of the setting before; the next one tells.
    returned_ = false;
    go_to(knobs_, fmt::format("{} again, to see whether something has changed", text_of(knobs_)));
    return true;
  }
  if (odd < odd_least_) return false;
  const Trial* known = nullptr;
  for (const Trial& trial : trials_.all()) {
    if (trial.knobs == knobs_ || !grid_.permits(trial.knobs)) continue;
    if (trial.count() < kTrialWindows && (!known || trial.age < known->age)) known = &trial;
  }
  if (!known) return false;
  returned_ = true;
  unlike_ = knobs_;
  odd_least_ = 1.5 * odd;  // if nothing has changed, settings differ by so much
  go_to(known->knobs, fmt::format("goes back to {}: {} is so unlike it that something may have changed",
                                  text_of(known->knobs), text_of(knobs_)));
  return true;
}

// Of the setting that was left.
Belief Tuner::rate_before() const {
  const Trial* const left = trials_.find(last_knobs_);
  return left ? trials_.rate_log(*left) : Belief{last_->rate_log, trials_.spread()};
}

WindowReading Tuner::read(const TunerWindow& window) const {
  const auto samples = static_cast<double>(window.samples);
  const double busy_s = std::max(window.seconds - window.wait_s, 1e-3 * window.seconds);
  double stages_s[2] = {};
  for (const TunerWindow::Stage& stage : window.stages) stages_s[stage.side == StageSide::kDevice] += stage.seconds;
  return {std::log(samples / window.seconds), std::log(busy_s * workload_.batch / samples),
          window.wait_s / window.seconds, std::log(stages_s[0] / samples + kNoSeconds),
          std::log(stages_s[1] / samples + kNoSeconds)};
}

void Tuner::limit_threads(int most) {
  const int before = grid_.most_threads();
  grid_.limit_threads(most);
  if (unlike_ && !grid_.permits(*unlike_)) unlike_.reset();
  const int now = grid_.most_threads();
  const KnobSetting permitted = grid_.permitted(knobs_);
  const bool must_go = permitted != knobs_;
  knobs_ = permitted;
  if (options_.once || now == before) return;
  // Who searches sees what there is; who has settled below the limit, or waits for nothing, needs no more.
  const bool wants_more = phase_ == Phase::kSettled && now > before && knobs_.threads == before && last_ &&
                          last_->wait_share > kWaitsLittle;
  if (must_go || wants_more) reopen(fmt::format("{} may be used now, and not {}", counted(now, "thread"), before), 0);
}

void Tuner::search() {
  learn_surfaces(Trials::kDriftPerWindow);
  // What it went back from has had but one window.
  const KnobSetting tried = std::exchange(unlike_, std::nullopt).value_or(knobs_);
  if (const std::string doubt = doubt_of(*trials_.find(tried)); !doubt.empty()) {
    return go_to(tried, fmt::format("{} again: {}", text_of(tried), doubt));
  }
  const std::vector<Standing> all = standings();
  const Standing best = best_of(all);
  best_ = best.trial->knobs;
  const double fastest = fastest_of(all);
  if (searched_windows_ < search_windows_max_ && searched_windows_ < kUntriedAfter && try_another(best, fastest))
    return;
  if (searched_windows_ < search_windows_max_ + kUntriedWindows && try_untried(best, fastest)) return;
  if (searched_windows_ < search_windows_max_ && try_another(best, fastest)) return;
  if (const Trial* const oldest = to_compare(best)) {
    compared_ = true;
    return go_to(oldest->knobs, fmt::format("goes back to {} before it rests, to see whether something has changed",
                                            text_of(oldest->knobs)));
  }
  if (const Standing* const doubtful = to_confirm(all, best)) {
    return go_to(doubtful->trial->knobs, fmt::format("{} again, to be sure of its {}", text_of(doubtful->trial->knobs),
                                                     rate_text(doubtful->rate_log.mean)));
  }
  settle(best);
}

// The setting that was left the longest ago: if it does as it did, what was seen since still holds. A change between
// two settings that were tried once each shows in no other comparison.
const Trial* Tuner::to_compare(const Standing& best) const {
  if (compared_) return nullptr;
  const Trial* oldest = nullptr;
  for (const Trial& trial : trials_.all()) {
    if (&trial == best.trial || trial.age < kCompareAge || !grid_.permits(trial.knobs)) continue;
    if (!oldest || trial.age > oldest->age) oldest = &trial;
  }
  return oldest;
}

// Why the last window alone does not tell how the setting does; empty if it does.
std::string Tuner::doubt_of(const Trial& trial) const {
  const Trial::Window& window = trial.windows.back();
  if (trial.count() == 1 && surprised(window.reading.rate_log, expected_)) {
    return fmt::format("{} was not expected", rate_text(window.reading.rate_log));
  }
  if (trial.count() == 1 && trials_.rate_log(trial).sd > kHardlyKnown) {
    return "much of its first window may be of what was before";
  }
  if (!trials_.knows_carry() && std::abs(window.jump()) > kJumpToCheck) {
    return "to know whether a window is still of what was before";
  }
  return "";
}

// False if none promises anything.
bool Tuner::try_another(const Standing& best, double fastest) {
  if (searched_windows_ >= kDepthsAfter && limit_of(*best.trial) == Resource::kStore) {
    if (const std::optional<KnobSetting> depth = untried_depth(best)) {
      try_knobs(*depth,
                fmt::format("{} is held by reading, and only a try tells what another depth does", text_of(*best_)));
      return true;
    }
  }
  const Prospect prospect = best_prospect(best, fastest);
  if (prospect.gain <= kGainLeast) return false;
  const std::string expected = rate_text(prospect.rate_log.mean);
  if (prospect.knobs == *best_) {
    expected_ = believe(*best_);
    go_to(*best_,
          fmt::format("{} again: it may be more, or less, than {}", text_of(*best_), rate_text(best.rate_log.mean)));
  } else if (prospect.faster > 0.5 * prospect.gain) {
    try_knobs(prospect.knobs,
              fmt::format("expected {}, perhaps more than the {} of {}, held by {}", expected,
                          rate_text(best.rate_log.mean), text_of(*best_), word_of(limit_of(*best.trial))));
  } else {
    try_knobs(prospect.knobs, fmt::format("expected {}, which is nearly the {} of {}, and cheaper", expected,
                                          rate_text(fastest), text_of(*best_)));
  }
  return true;
}

// Whatever is expected of it: what was never tried since something changed is not known. It does not rest before each
// knob that could help was turned.
bool Tuner::try_untried(const Standing& best, double fastest) {
  std::optional<KnobSetting> untried = untried_index(best, fastest);
  if (!untried && best.trial->mean(&WindowReading::wait_share) > kWaitsLittle) {
    const auto could_be = [&](Resource resource) { return may_hold(resource, *best.trial); };
    if (could_be(Resource::kStore)) untried = untried_depth(best);
    if (!untried && could_be(Resource::kCpu)) untried = untried_more(best, &KnobSetting::threads);
    if (!untried) untried = untried_more(best, &KnobSetting::prefetch);
  }
  if (!untried) untried = untried_fewer_threads(best);
  if (!untried) return false;
  try_knobs(*untried, fmt::format("expected {}, and not tried yet beside {}", rate_text(believe(*untried).mean),
                                  text_of(*best_)));
  return true;
}

void Tuner::try_knobs(const KnobSetting& knobs, const std::string& why) {
  expected_ = believe(knobs);
  go_to(knobs, fmt::format("tries {}: {}", text_of(knobs), why));
}

// By any explanation that counts. One by which training is held by itself, though it waits, explains nothing.
bool Tuner::may_hold(Resource resource, const Trial& trial) const {
  for (std::size_t i = 0; i < model_.explanations(); ++i) {
    if (model_.likelihood(i) < kUnlikely) continue;
    const Resource limit = model_.capacity(trial.knobs, i).limit();
    if (limit == resource || limit == Resource::kOther || limit == Resource::kConsumer) return true;
  }
  return false;
}

// How a store does with more reads at once, or fewer, follows from nothing that was seen at one depth. Where fewer do
// as well, there may not have been more under way: still fewer are another matter.
std::optional<KnobSetting> Tuner::untried_depth(const Standing& best) const {
  const KnobSetting& here = best.trial->knobs;
  for (std::optional<KnobSetting> knobs : grid_.depths_beside(here)) {
    while (knobs) {
      const double rate_log = tried_at_depth(*knobs);
      if (rate_log == kNone) return knobs;
      if (knobs->io_depth > here.io_depth || rate_log < best.rate_log.mean - kEnough) break;
      const std::vector<KnobSetting> beside = grid_.depths_beside(*knobs);
      const auto fewer = std::find_if(beside.begin(), beside.end(),
                                      [&](const KnobSetting& other) { return other.io_depth < knobs->io_depth; });
      knobs = fewer == beside.end() ? std::nullopt : std::optional(*fewer);
    }
  }
  return std::nullopt;
}

// The fastest with that index and depth, and as many threads: fewer may be what held it. kNone if there is none.
double Tuner::tried_at_depth(const KnobSetting& knobs) const {
  double most = kNone;
  for (const Trial& trial : trials_.all()) {
    if (trial.knobs.io_depth != knobs.io_depth || trial.knobs.transfer_index != knobs.transfer_index) continue;
    if (std::log2(trial.knobs.threads) < std::log2(knobs.threads) - kAsManyThreads) continue;
    most = std::max(most, trials_.rate_log(trial).mean);
  }
  return most;
}

// Each index with as many threads as could make it the fastest, the nearest first: a trial with fewer says nothing of
// an index, and one with so many that they hold up the training itself says little. A model that is wrong about an
// index would never tell.
std::optional<KnobSetting> Tuner::untried_index(const Standing& best, double fastest) const {
  const KnobSetting& here = best.trial->knobs;
  const auto steps = [&](const KnobSetting& knobs) { return std::abs(knobs.transfer_index - here.transfer_index); };
  const auto carries = [&](const KnobSetting& knobs) {
    for (std::size_t i = 0; i < model_.explanations(); ++i) {
      if (model_.likelihood(i) < kUnlikely) continue;
      if (model_.capacity(knobs, i)[Resource::kCpu] < std::exp(fastest) * (1 + kThreadsSpare)) return false;
    }
    return true;
  };
  std::vector<KnobSetting> enough;  // threads, by index
  for (const KnobSetting& knobs : grid_.around(here)) {
    if (steps(knobs) == 0) continue;
    if (enough.empty() || enough.back().transfer_index != knobs.transfer_index) {
      enough.push_back(knobs);
    } else if (!carries(enough.back())) {
      enough.back() = knobs;
    }
  }
  const auto tried = [&](const KnobSetting& knobs) {
    return std::any_of(trials_.all().begin(), trials_.all().end(), [&](const Trial& trial) {
      if (trial.knobs.transfer_index != knobs.transfer_index) return false;
      const double more = std::log2(static_cast<double>(trial.knobs.threads) / knobs.threads);
      return more > -kAsManyThreads && (more < kAsManyThreads || trial.mean(&WindowReading::wait_share) > kWaitsLittle);
    });
  };
  std::optional<KnobSetting> found;
  double most = kNone;
  for (const KnobSetting& knobs : enough) {
    if (tried(knobs) || rate_log_max(knobs, best) <= fastest + kEnough) continue;
    const double expected = believe(knobs).mean;
    const bool nearer = found && steps(knobs) < steps(*found), as_near = found && steps(knobs) == steps(*found);
    if (found && !nearer && !(as_near && expected > most)) continue;
    found = knobs;
    most = expected;
  }
  return found;
}

// With more of one knob, all else being the best's: the nearest that could show.
std::optional<KnobSetting> Tuner::untried_more(const Standing& best, int KnobSetting::*knob) const {
  const KnobSetting& here = best.trial->knobs;
  const auto more = [&](const KnobSetting& knobs) {
    return knobs.transfer_index == here.transfer_index &&
           std::log2(knobs.*knob) - std::log2(here.*knob) > kAsManyThreads;
  };
  const auto tried = [&](const Trial& trial) { return more(trial.knobs); };
  if (std::any_of(trials_.all().begin(), trials_.all().end(), tried)) return std::nullopt;
  std::optional<KnobSetting> least;
  for (const KnobSetting& knobs : grid_.around(here)) {
    if (more(knobs) && (!least || knobs.*knob < *least.*knob)) least = knobs;
  }
  return least;
}

// Half as many threads: what many take of the training's cores, and of each other's, shows only where there are fewer.
std::optional<KnobSetting> Tuner::untried_fewer_threads(const Standing& best) const {
  const KnobSetting& here = best.trial->knobs;
  const auto fewer = [&](const KnobSetting& knobs) {
    return knobs.transfer_index == here.transfer_index &&
           std::log2(here.threads) - std::log2(knobs.threads) > kAsManyThreads;
  };
  const auto tried = [&](const Trial& trial) { return fewer(trial.knobs); };
  if (std::any_of(trials_.all().begin(), trials_.all().end(), tried)) return std::nullopt;
  std::optional<KnobSetting> half;
  for (const KnobSetting& knobs : grid_.around(here)) {
    if (fewer(knobs) && (!half || 2 * knobs.threads <= here.threads)) half = knobs;
  }
  return half;
}

// What the choice depends on: the best itself, and the fastest, which it is to be near to.
const Tuner::Standing* Tuner::to_confirm(const std::vector<Standing>& all, const Standing& best) const {
  const auto of = [&](const Trial* trial) {
    return &*std::find_if(all.begin(), all.end(), [&](const Standing& standing) { return standing.trial == trial; });
  };
  if (best.trial->count() < kConfirmWindows) return of(best.trial);
  if (searched_windows_ >= confirm_windows_max_) return nullptr;
  const Standing* const fastest = &*std::max_element(
      all.begin(), all.end(), [](const Standing& a, const Standing& b) { return a.rate_log.mean < b.rate_log.mean; });
  for (const Standing* const standing : {of(best.trial), fastest}) {
    if (standing->rate_log.sd > kSureEnough) return standing;
  }
  return nullptr;
}

// Training that hardly waits is held back by itself, and training that waits never is.
Resource Tuner::limit_of(const Trial& trial) const {
  if (trial.mean(&WindowReading::wait_share) < kWaitsLittle) return Resource::kConsumer;
  const Resource limit = model_.capacity(trial.knobs).limit();
  return limit == Resource::kConsumer ? Resource::kOther : limit;
}

void Tuner::settle(const Standing& best) {
  phase_ = Phase::kSettled;
  settled_windows_ = 0;
  probe_waiting_ = kProbeWaiting;
  looked_at_.clear();
  const Trial& trial = *best.trial;
  const double wait_share = trial.mean(&WindowReading::wait_share);
  const std::string held = wait_share < kWaitsLittle
                               ? "and nothing cheaper does that"
                               : fmt::format("held back by {}, and nothing tried was faster", word_of(limit_of(trial)));
  go_to(trial.knobs, fmt::format("stays with {}: {}, the consumer waits {:.1f}% of the time, {}", text_of(trial.knobs),
                                 rate_text(best.rate_log.mean), 100 * wait_share, held));
  const double spread = std::max(trials_.spread(), kChangeSpreadLeast);
  const auto begin = [&](ChangeWatch& watch, double WindowReading::*part) {
    watch.begin(trial.mean(part), trial.count(), spread);
  };
  begin(rate_watch_, &WindowReading::rate_log);
  begin(step_watch_, &WindowReading::step_log);
  begin(cpu_watch_, &WindowReading::cpu_log);
  begin(device_watch_, &WindowReading::device_log);
}

void Tuner::watch(const WindowReading& now) {
  if (options_.once) return;
  // Who does not wait goes as fast as its steps.
  const bool rate = rate_watch_.see(now.rate_log, now.wait_share < kWaitsLittle ? kCostChangeLeast : kChangeLeast);
  const bool step = step_watch_.see(now.step_log, kCostChangeLeast);
  bool cpu = cpu_watch_.see(now.cpu_log, kCostChangeLeast);
  if (cpu && now.wait_share < kWaitsLittle && (cpu_watch_.change() > 0 || knobs_.threads == 1)) {
    // Training is fed all the same, and would be by no fewer threads.
    cpu_watch_.begin(now.cpu_log, 1, std::max(trials_.spread(), kChangeSpreadLeast));
    cpu = false;
  }
  const bool device = device_watch_.see(now.device_log, kCostChangeLeast);
  struct Seen {
    bool changed;
    std::string_view what;
    const ChangeWatch* watch;
  };
  const Seen all[] = {{step, "the training's own steps take another time", &step_watch_},
                      {cpu, "a sample costs the CPU something else", &cpu_watch_},
                      {device, "a sample costs the device something else", &device_watch_},
                      {rate, "the rate is another", &rate_watch_}};
  // The first is what is said; how much of what was learnt still holds is a matter of all of them.
  double most = 0;
  for (const Seen& seen : all) {
    if (std::abs(seen.watch->change()) > std::abs(most)) most = seen.watch->change();
  }
  for (const Seen& seen : all) {
    if (seen.changed) return reopen(seen.what, most);
  }
  if (++settled_windows_ >= (now.wait_share < kWaitsLittle ? kProbeEvery : probe_waiting_)) probe(now);
}

// What has become better elsewhere does not show here.
void Tuner::probe(const WindowReading& now) {
  const int unchanged = std::exchange(settled_windows_, 0);
  if (now.wait_share >= kWaitsLittle) probe_waiting_ = std::min(2 * probe_waiting_, kProbeWaitingMost);
  learn_surfaces(kProbeDrift);
  const std::vector<Standing> all = standings();
  const Standing& here =
      *std::find_if(all.begin(), all.end(), [&](const Standing& standing) { return standing.trial->knobs == knobs_; });
  const std::optional<KnobSetting> other =
      now.wait_share < kWaitsLittle ? prospect_elsewhere(here) : freed_index(here);
  if (!other) return;
  phase_ = Phase::kProbe;
  best_ = knobs_;
  expected_ = here.rate_log;
  go_to(*other, fmt::format("looks at {} for one window, as nothing has changed for {}", text_of(*other), unchanged));
}

std::optional<KnobSetting> Tuner::prospect_elsewhere(const Standing& here) const {
  const Prospect prospect = best_prospect(here, here.rate_log.mean);
  if (prospect.faster < kProbeGain || prospect.knobs == knobs_) return std::nullopt;
  return prospect.knobs;
}

// Training waits. What held back another index, or more threads (a link, a store, cores that others had), may do so no
// longer, of which nothing shows here: one index after the other is looked at, if it would be better then.
std::optional<KnobSetting> Tuner::freed_index(const Standing& here) {
  const auto at_most = [&](const KnobSetting& knobs) { return model_.capacity_at_most(knobs).throughput(); };
  const auto looked_at = [&](const KnobSetting& knobs) {
    return std::find(looked_at_.begin(), looked_at_.end(), knobs.transfer_index) != looked_at_.end();
  };
  const std::vector<KnobSetting> others = grid_.around(knobs_);
  std::optional<KnobSetting> found;
  double most = std::exp(here.rate_log.mean) * (1 + kChangeLeast);
  for (const KnobSetting& knobs : others) {
    const bool is_here = knobs.transfer_index == knobs_.transfer_index && knobs.threads <= knobs_.threads;
    if (is_here || looked_at(knobs) || at_most(knobs) <= most) continue;
    most = at_most(knobs);
    found = knobs;
  }
  if (!found) {
    looked_at_.clear();  // from the first again
    return std::nullopt;
  }
  for (const KnobSetting& knobs : others) {
    const bool as_good = knobs.transfer_index == found->transfer_index && at_most(knobs) > most * (1 - kEnough);
    if (as_good && cost(knobs) < cost(*found)) found = knobs;
  }
  looked_at_.push_back(found->transfer_index);
  return found;
}

void Tuner::judge_probe(const WindowReading& now, bool is_first) {
  const double more = now.rate_log - expected_.mean;
  if (more > std::max(kChangeLeast, 3 * trials_.spread())) {
    if (!is_first) return reopen("it is faster here than where nothing had changed", more);
    return go_to(knobs_, fmt::format("{} again: it seems faster than where nothing had changed ({:+.0f}%)",
                                     text_of(knobs_), 100 * std::expm1(more)));
  }
  phase_ = Phase::kSettled;
  go_to(*best_, fmt::format("goes back to {}: {} was no better", text_of(*best_), text_of(knobs_)));
}

void Tuner::reopen(std::string_view because, double change) {
  const int search_left = phase_ == Phase::kSearch ? search_windows_max_ - searched_windows_ : 0;
  const int confirm_left = phase_ == Phase::kSearch ? confirm_windows_max_ - searched_windows_ : 0;
  past_.clear();
  for (const Trial& trial : trials_.all()) {
    if (std::abs(change) > kPastErrorMost) break;  // what limits may be something else now
    if (past_.size() == kPastMax) past_.erase(past_.begin());
    past_.push_back({trial.knobs, trials_.rate_log(trial).mean - std::log(model_.capacity(trial.knobs).throughput()),
                     std::max(std::abs(change), kPastErrorLeast)});
  }
  trials_.clear();
  model_.forget_windows();
  learn_surfaces(Trials::kDriftPerWindow);
  phase_ = Phase::kSearch;
  searched_windows_ = 0;
  search_windows_max_ = std::max(kSearchAgainWindows, search_left);
  confirm_windows_max_ = std::max(kConfirmAgainMost, confirm_left);
  returned_ = compared_ = false;
  unlike_.reset();
  odd_least_ = kOddLeast;
  expected_ = believe(knobs_);
  expected_.sd = 1;  // nothing here is a surprise
  why_ = fmt::format("looks again, from {}: {}", text_of(knobs_), because);
  if (change != 0) why_ += fmt::format(" ({:+.0f}%)", 100 * std::expm1(change));
}

void Tuner::learn_surfaces(double drift_per_window) {
  surfaces_.assign(model_.explanations(), ResponseSurface());
  for (std::size_t i = 0; i < surfaces_.size(); ++i) {
    for (const Past& past : past_) surfaces_[i].see(past.knobs, past.off, past.error_sd);
    for (const Trial& trial : trials_.all()) {
      const double expected = std::log(model_.capacity(trial.knobs, i).throughput());
      const Belief rate = trials_.rate_log(trial, drift_per_window);
      surfaces_[i].see(trial.knobs, rate.mean - expected, rate.sd);
    }
    surfaces_[i].learn();
  }
}

Belief Tuner::believe(const KnobSetting& knobs, std::size_t explanation) const {
  const Belief off = surfaces_[explanation].believe(knobs);
  return {std::log(model_.capacity(knobs, explanation).throughput()) + off.mean, off.sd};
}

Belief Tuner::believe(const KnobSetting& knobs) const {
  double mean = 0, square = 0;
  for (std::size_t i = 0; i < surfaces_.size(); ++i) {
    const Belief belief = believe(knobs, i);
    mean += model_.likelihood(i) * belief.mean;
    square += model_.likelihood(i) * (belief.mean * belief.mean + belief.sd * belief.sd);
  }
  return {mean, std::sqrt(std::max(square - mean * mean, 0.0))};
}

std::vector<Tuner::Standing> Tuner::standings() const {
  std::vector<Standing> all;
  for (const Trial& trial : trials_.all()) {
    if (grid_.permits(trial.knobs)) all.push_back({&trial, believe(trial.knobs), cost(trial.knobs)});
  }
  return all;
}

double Tuner::fastest_of(const std::vector<Standing>& standings) const {
  double fastest = kNone;
  for (const Standing& standing : standings) {
    fastest = std::max(fastest, standing.rate_log.mean - kHeed * standing.rate_log.sd);
  }
  return fastest;
}

// Who is cheaper has the benefit of the doubt, within limits; among the cheap, a little speed counts for a little cost.
Tuner::Standing Tuner::best_of(const std::vector<Standing>& standings) const {
  const double fastest = fastest_of(standings);
  const Standing* best = nullptr;
  double most = kNone;
  for (const Standing& standing : standings) {
    const double behind = fastest - standing.rate_log.mean;
    if (behind > kEnough + std::min(0.7 * standing.rate_log.sd, kDoubtMost)) continue;
    const double worth = -standing.cost - kSpeedWorth * behind;
    if (worth <= most) continue;
    most = worth;
    best = &standing;
  }
  return *best;
}

Tuner::Prospect Tuner::best_prospect(const Standing& best, double fastest) const {
  Prospect found;
  bool depth_matters = false;  // by any explanation
  for (std::size_t i = 0; i < surfaces_.size(); ++i) {
    if (model_.likelihood(i) < kUnlikely) continue;
    depth_matters = depth_matters || model_.capacity(best.trial->knobs, i).limit() == Resource::kStore;
  }
  const auto look_at = [&](const KnobSetting& knobs) {
    if (!depth_matters && knobs.io_depth != best.trial->knobs.io_depth) return;
    const double ceiling = rate_log_max(knobs, best);
    const double saved = best.cost - cost(knobs);
    if (ceiling <= fastest && saved <= 0) return;
    const double error = trials_.spread();
    double faster = 0, cheaper = 0;
    for (std::size_t i = 0; i < surfaces_.size(); ++i) {
      if (model_.likelihood(i) < kUnlikely) continue;
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

// What training would do at an index if it never waited. Where that was not tried: if what the kernels take less than
// at the best shortens its steps by as much, and what they take more lengthens them by nothing.
double Tuner::rate_log_max(const KnobSetting& knobs, const Standing& best) const {
  const auto fed = [&](const Belief& step_log) { return std::log(workload_.batch) - step_log.mean; };
  if (const std::optional<Belief> step_log = trials_.step_log(knobs)) return fed(*step_log) + kFedError;
  KnobSetting from_here = knobs;
  const int from = from_here.transfer_index = best.trial->knobs.transfer_index;
  const Belief step_log = *trials_.step_log(from_here);
  const double less_s = workload_.batch * (model_.device_s(from) - model_.device_s(knobs.transfer_index));
  const double relief = less_s <= 0 ? 0 : -std::log1p(-std::min(less_s / std::exp(step_log.mean), 0.95));
  return fed(step_log) + relief + kFedError;
}

double Tuner::cost(const KnobSetting& knobs) const {
  const double rate = model_.capacity(knobs).throughput();
  const double cpu_share = std::min(1.0, model_.cpu_s(knobs) * rate / workload_.cores);
  const double device_share = std::min(1.0, model_.device_s(knobs.transfer_index) * rate);
  return kThreadsCost * std::log2(knobs.threads) + kCpuCost * cpu_share + kDeviceCost * device_share +
         kPrefetchCost * std::max(0.0, std::log2(knobs.prefetch) - std::log2(kPrefetchFirst)) +
         kIoDepthCost * std::max(0.0, std::log2(knobs.io_depth) - std::log2(kIoDepthFirst));
}

bool Tuner::surprised(double rate_log, const Belief& expected) const {
  const double off = std::abs(rate_log - expected.mean);
  return off > 0.05 && off > 3 * std::hypot(expected.sd, trials_.spread());
}

void Tuner::go_to(const KnobSetting& knobs, std::string why) {
  knobs_ = knobs;
  why_ = std::move(why);
}

}  // namespace stoker
