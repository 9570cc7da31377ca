#include "stoker/tuner/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

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
constexpr double kAsManyThreads = 0.35;  // doublings by which they may differ
constexpr int kTrialWindows = 8;         // more would say no more of one setting
constexpr int kConfirmWindows = 4;       // of the best, before it is settled upon; more where they differ much, up to
constexpr int kConfirmMost = 54;         // windows since the search began, from a cold start,
constexpr int kConfirmAgainMost = 25;    // and after a change
constexpr double kSureEnough = 0.006;    // error of a rate that is believed
constexpr double kHardlyKnown = 0.08;    // of one that is not
// Of how a setting did before a change, as to how it does now: as much as what was seen to change.
constexpr double kPastErrorLeast = 0.03, kPastErrorMost = 0.06;
constexpr std::size_t kPastMax = 24;
constexpr double kJumpToCheck = 0.08;  // of the rate, from one setting to another
constexpr int kProbeEvery = 90;        // windows in which nothing changed
constexpr double kProbeDrift = 0.002;  // for it: by how much other settings may have become better in each of them
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

std::string text_of(const KnobSetting& knobs) {
  return fmt::format("{} {} at index {}, prefetch {}, I/O depth {}", knobs.threads,
                     knobs.threads == 1 ? "thread" : "threads", knobs.transfer_index, knobs.prefetch, knobs.io_depth);
}

std::string rate_text(double rate_log) { return fmt::format("{:.4g}/s", std::exp(rate_log)); }

}  // namespace

Tuner::Tuner(const TunedWorkload& workload, TunerOptions options)
    : workload_(workload),
      options_(std::move(options)),
      grid_(workload, options_.limits),
      model_(workload),
      trials_([this](const KnobSetting& knobs) { return model_.step_s(knobs).value_or(1); }),
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
    why_ = fmt::format("begins with {}: by the stages' costs that can make {:.4g} samples/s, held by {}",
                       text_of(knobs_), capacity.throughput(), word_of(capacity.limit()));
  }
  learn_surfaces(Trials::kDriftPerWindow);
  expected_ = believe(knobs_);
}

void Tuner::see(const TunerWindow& window) {
  if (window.samples <= 0 || window.seconds <= 0) return;
  const WindowReading now = read(window);
  const bool moved = last_ && last_knobs_ != knobs_;
  trials_.add(knobs_, now, moved ? std::optional(rate_before()) : std::nullopt);
  std::vector<PipelineModel::Rate> rates;
  for (const Trial& trial : trials_.all()) {
    rates.push_back({trial.knobs, trials_.rate_log(trial, 0), trial.mean(&WindowReading::wait_share)});
  }
  model_.learn(knobs_, window, rates);
  last_knobs_ = knobs_;
  if (phase_ == Phase::kProbe) {
    judge_probe(now);
  } else if (phase_ == Phase::kSettled) {
    if (!moved) watch(now);
  } else {
    ++searched_windows_;
    search();
  }
  last_ = now;
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
  constexpr double kNothingS = 1e-9;
  return {std::log(samples / window.seconds), std::log(busy_s * workload_.batch / samples),
          window.wait_s / window.seconds, std::log(stages_s[0] / samples + kNothingS),
          std::log(stages_s[1] / samples + kNothingS)};
}

void Tuner::limit_threads(int most) {
  const int before = grid_.most_threads();
  grid_.limit_threads(most);
  const int now = grid_.most_threads();
  const KnobSetting permitted = grid_.permitted(knobs_);
  const bool must_go = permitted != knobs_;
  knobs_ = permitted;
  if (options_.once || now == before) return;
  // Who searches sees what there is; who has settled below the limit, or waits for nothing, needs no more.
  const bool wants_more = phase_ == Phase::kSettled && now > before && knobs_.threads == before && last_ &&
                          last_->wait_share > kWaitsLittle;
  if (must_go || wants_more) reopen(fmt::format("{} threads may be used now, and not {}", now, before), 0);
}

void Tuner::search() {
  learn_surfaces(Trials::kDriftPerWindow);
  if (const std::string doubt = doubt_of(*trials_.find(knobs_)); !doubt.empty()) {
    return go_to(knobs_, fmt::format("{} again: {}", text_of(knobs_), doubt));
  }
  const std::vector<Standing> all = standings();
  const Standing best = best_of(all);
  best_ = best.trial->knobs;
  if (searched_windows_ < search_windows_max_ && try_another(best, fastest_of(all))) return;
  if (const Standing* const doubtful = to_confirm(all, best)) {
    return go_to(doubtful->trial->knobs, fmt::format("{} again, to be sure of its {}", text_of(doubtful->trial->knobs),
                                                     rate_text(doubtful->rate_log.mean)));
  }
  settle(best);
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
  const auto try_knobs = [&](const KnobSetting& knobs, std::string why) {
    expected_ = believe(knobs);
    go_to(knobs, std::move(why));
    return true;
  };
  if (const std::optional<KnobSetting> depth = untried_depth(best)) {
    return try_knobs(*depth,
                     fmt::format("tries {}: {} is held by reading, and only a try tells what another depth does",
                                 text_of(*depth), text_of(*best_)));
  }
  const Prospect prospect = best_prospect(best, fastest);
  if (prospect.gain > kGainLeast) {
    const std::string it = text_of(prospect.knobs), expected = rate_text(prospect.rate_log.mean);
    if (prospect.knobs == *best_) {
      return try_knobs(*best_,
                       fmt::format("{} again: it may be more, or less, than {}", it, rate_text(best.rate_log.mean)));
    }
    if (prospect.faster > 0.5 * prospect.gain) {
      return try_knobs(prospect.knobs,
                       fmt::format("tries {}: expected {}, perhaps more than the {} of {}, held by {}", it, expected,
                                   rate_text(best.rate_log.mean), text_of(*best_), word_of(limit_of(*best.trial))));
    }
    return try_knobs(prospect.knobs, fmt::format("tries {}: expected {}, which is nearly the {} of {}, and cheaper", it,
                                                 expected, rate_text(fastest), text_of(*best_)));
  }
  if (const std::optional<KnobSetting> beside = untried_index(best, fastest)) {
    return try_knobs(*beside, fmt::format("tries {}: expected {}, and not tried yet beside {}", text_of(*beside),
                                          rate_text(believe(*beside).mean), text_of(*best_)));
  }
  return false;
}

// How a store does with more reads at once, or fewer, follows from nothing that was seen at one depth.
std::optional<KnobSetting> Tuner::untried_depth(const Standing& best) const {
  if (searched_windows_ < kDepthsAfter || limit_of(*best.trial) != Resource::kStore) return std::nullopt;
  for (const KnobSetting& knobs : grid_.depths_beside(best.trial->knobs)) {
    const auto like = [&](const Trial& trial) {
      return trial.knobs.io_depth == knobs.io_depth && trial.knobs.transfer_index == knobs.transfer_index;
    };
    if (std::none_of(trials_.all().begin(), trials_.all().end(), like)) return knobs;
  }
  return std::nullopt;
}

// The indices beside the best's, with about as many threads: a model that is wrong about them would never tell.
std::optional<KnobSetting> Tuner::untried_index(const Standing& best, double fastest) const {
  const KnobSetting& here = best.trial->knobs;
  for (const KnobSetting& knobs : grid_.around(here)) {
    if (std::abs(knobs.transfer_index - here.transfer_index) != 1 || knobs.threads != here.threads) continue;
    const auto like = [&](const Trial& trial) {
      return trial.knobs.transfer_index == knobs.transfer_index &&
             std::abs(std::log2(trial.knobs.threads) - std::log2(knobs.threads)) < kAsManyThreads;
    };
    if (std::any_of(trials_.all().begin(), trials_.all().end(), like)) continue;
    if (rate_log_max(knobs, best) > fastest + kEnough) return knobs;
  }
  return std::nullopt;
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

// Who hardly waits is held back by nothing else.
Resource Tuner::limit_of(const Trial& trial) const {
  if (trial.mean(&WindowReading::wait_share) < kWaitsLittle) return Resource::kConsumer;
  return model_.capacity(trial.knobs).limit();
}

void Tuner::settle(const Standing& best) {
  phase_ = Phase::kSettled;
  settled_windows_ = 0;
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
  if (++settled_windows_ >= kProbeEvery) probe();
}

// What has become better elsewhere does not show here.
void Tuner::probe() {
  settled_windows_ = 0;
  learn_surfaces(kProbeDrift);
  const std::vector<Standing> all = standings();
  const Standing& here =
      *std::find_if(all.begin(), all.end(), [&](const Standing& standing) { return standing.trial->knobs == knobs_; });
  const Prospect prospect = best_prospect(here, here.rate_log.mean);
  if (prospect.faster < kProbeGain || prospect.knobs == knobs_) return;
  phase_ = Phase::kProbe;
  best_ = knobs_;
  expected_ = here.rate_log;
  go_to(prospect.knobs,
        fmt::format("looks at {} for one window, as nothing has changed for {}", text_of(prospect.knobs), kProbeEvery));
}

void Tuner::judge_probe(const WindowReading& now) {
  const double more = now.rate_log - expected_.mean;
  if (more > std::max(kChangeLeast, 3 * trials_.spread())) {
    return reopen("it is faster here than where nothing had changed", more);
  }
  phase_ = Phase::kSettled;
  go_to(*best_, fmt::format("goes back to {}: {} was no better", text_of(*best_), text_of(knobs_)));
}

void Tuner::reopen(std::string_view because, double change) {
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
  search_windows_max_ = kSearchAgainWindows;
  confirm_windows_max_ = kConfirmAgainMost;
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
