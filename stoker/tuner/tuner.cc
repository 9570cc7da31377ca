#include "stoker/tuner/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "stoker/base/units.h"
#include "stoker/tuner/tuning_words.h"
#include "stoker/tuner/untried.h"

namespace stoker {
namespace {

constexpr int kSearchWindows = 42;       // at most, from a cold start
constexpr int kSearchAgainWindows = 20;  // after a change
constexpr int kDepthsAfter = 6;          // windows; before, a setting is sought that the store does not limit
constexpr int kUntriedAfter = 12;        // windows of promising settings, then knobs that were never turned are tried
constexpr int kConfirmWindows = 4;       // of the best, before the tuner settles on it; more if they differ much, up to
constexpr int kConfirmMost = 54;         // windows since the search began, from a cold start,
constexpr int kConfirmAgainMost = 25;    // and after a change
constexpr double kSureEnough = 0.006;    // error of a rate that is believed
constexpr double kHardlyKnown = 0.08;    // of one that is not
constexpr double kJumpToCheck = 0.08;    // of the rate, from one setting to another

std::string rate_text(double rate_log) { return number_text(std::exp(rate_log)) + "/s"; }

}  // namespace

Tuner::Tuner(const TunedWorkload& workload, TunerOptions options)
    : once_(options.once),
      beliefs_(workload, options.limits),
      search_windows_max_(kSearchWindows),
      confirm_windows_max_(kConfirmMost) {
  if (options.start) {
    knobs_ = beliefs_.grid().permitted(*options.start);
    why_ = fmt::format("begins with {}: {}", text_of(knobs_), options.start_is);
  } else {
    knobs_ = beliefs_.first();
    const PipelineCapacity capacity = model().capacity(knobs_);
    why_ = fmt::format("begins with {}: by the costs of its stages this setting can make {} samples/s, limited by {}",
                       text_of(knobs_), number_text(capacity.throughput()), word_of(capacity.limit()));
  }
  search_watch_.begin();
  expected_ = beliefs_.believe(knobs_);
}

void Tuner::see(const TunerWindow& window) {
  if (window.samples <= 0 || window.seconds <= 0) return;
  const WindowReading now = reading_of(window, beliefs_.workload().batch);
  const bool moved = last_ && last_knobs_ != knobs_;
  const double odd = SearchWatch::oddness(beliefs_, knobs_, window);
  beliefs_.see(knobs_, window, moved ? std::optional(rate_before()) : std::nullopt);
  last_knobs_ = knobs_;
  if (phase_ == Phase::kProbe) {
    judge_probe(now, moved);
  } else if (phase_ == Phase::kSearch) {
    search(window, odd);
  } else if (!moved && !once_) {
    watch(now);
  }
  last_ = now;
}

std::optional<KnobSetting> Tuner::settled_on() const {
  if (phase_ == Phase::kSearch) return std::nullopt;
  return phase_ == Phase::kProbe ? best_ : knobs_;
}

// Of the setting that was left.
Belief Tuner::rate_before() const {
  const Trials& trials = beliefs_.trials();
  const Trial* const left = trials.find(last_knobs_);
  return left ? trials.rate_log(*left) : Belief{last_->rate_log, trials.spread()};
}

void Tuner::limit_threads(int most) {
  const int before = beliefs_.grid().most_threads();
  beliefs_.limit_threads(most);
  search_watch_.narrow(beliefs_.grid());
  const int now = beliefs_.grid().most_threads();
  const KnobSetting permitted = beliefs_.grid().permitted(knobs_);
  const bool must_go = permitted != knobs_;
  knobs_ = permitted;
  if (once_ || now == before) return;
  // A search uses the new limit by itself; a tuner that has settled below the limit, or with training that does not
  // wait, needs no more threads.
  const bool wants_more = phase_ == Phase::kSettled && now > before && knobs_.threads == before && last_ &&
                          last_->wait_share > kWaitsLittle;
  if (must_go || wants_more)
    reopen(fmt::format("{} may be used now, instead of {}", counted(now, "thread"), before), 0);
}

void Tuner::search(const TunerWindow& window, double odd) {
  if (const std::optional<Departure> changed = search_watch_.changed(beliefs_, knobs_)) {
    reopen(changed->what, changed->by);
    beliefs_.see_again(knobs_, window);
  } else if (const auto check = search_watch_.check(beliefs_, knobs_, odd)) {
    go_to(check->knobs, check->why);
  } else {
    ++searched_windows_;
    try_next();
  }
}

void Tuner::try_next() {
  beliefs_.learn_surfaces();
  const KnobSetting tried = search_watch_.take_tried(knobs_);
  if (const std::string doubt = doubt_of(*beliefs_.trials().find(tried)); !doubt.empty()) {
    return go_to(tried, fmt::format("measures {} again: {}", text_of(tried), doubt));
  }
  const std::vector<Standing> all = beliefs_.standings();
  const Standing best = SettingBeliefs::best_of(all);
  best_ = best.trial->knobs;
  const double fastest = SettingBeliefs::fastest_of(all);
  if (searched_windows_ < search_windows_max_) {
    if (searched_windows_ < kUntriedAfter && try_promising(best, fastest)) return;
    if (try_untried(best, fastest) || try_promising(best, fastest)) return;
  }
  if (const auto check = search_watch_.last_check(beliefs_, best)) return go_to(check->knobs, check->why);
  if (const std::optional<Standing> doubtful = to_confirm(all, best)) {
    const KnobSetting& knobs = doubtful->trial->knobs;
    return go_to(knobs, fmt::format("measures {} again, to be sure of its {}", text_of(knobs),
                                    rate_text(doubtful->rate_log.mean)));
  }
  settle(best);
}

// The reason why the last window alone does not show the setting's rate; empty if it does.
std::string Tuner::doubt_of(const Trial& trial) const {
  const Trial::Window& window = trial.windows.back();
  if (trial.count() == 1 && surprised(window.reading.rate_log)) {
    return fmt::format("{} was not expected", rate_text(window.reading.rate_log));
  }
  if (trial.count() == 1 && beliefs_.trials().rate_log(trial).sd > kHardlyKnown) {
    return "much of its first window may belong to the setting before";
  }
  if (!beliefs_.trials().knows_carry() && std::abs(window.jump()) > kJumpToCheck) {
    return "to find out whether windows still belong to the setting before";
  }
  return "";
}

bool Tuner::surprised(double rate_log) const {
  const double off = std::abs(rate_log - expected_.mean);
  return off > 0.05 && off > 3 * std::hypot(expected_.sd, beliefs_.trials().spread());
}

// False if no setting promises a gain.
bool Tuner::try_promising(const Standing& best, double fastest) {
  const Resource limit = beliefs_.limit_of(*best.trial);
  if (searched_windows_ >= kDepthsAfter && limit == Resource::kStore) {
    if (const std::optional<KnobSetting> depth = untried_depth(beliefs_, best)) {
      try_knobs(*depth, fmt::format("{} is limited by reading, and only a trial shows the effect of another depth",
                                    text_of(best_)));
      return true;
    }
  }
  const Prospect prospect = beliefs_.best_prospect(best, fastest);
  if (prospect.gain <= kGainLeast) return false;
  const std::string expected = rate_text(prospect.rate_log.mean), known = rate_text(best.rate_log.mean);
  if (prospect.knobs == best_) {
    expected_ = beliefs_.believe(best_);
    go_to(best_, fmt::format("measures {} again: it may be faster, or slower, than {}", text_of(best_), known));
  } else if (prospect.faster > 0.5 * prospect.gain) {
    try_knobs(prospect.knobs, fmt::format("expected {}, perhaps more than the {} of {}, limited by {}", expected, known,
                                          text_of(best_), word_of(limit)));
  } else {
    try_knobs(prospect.knobs, fmt::format("expected {}, nearly the {} of {}, and cheaper", expected, rate_text(fastest),
                                          text_of(best_)));
  }
  return true;
}

bool Tuner::try_untried(const Standing& best, double fastest) {
  const std::optional<KnobSetting> knobs = untried(beliefs_, best, fastest);
  if (!knobs) return false;
  try_knobs(*knobs, fmt::format("expected {}, and not tried yet; the best so far is {}",
                                rate_text(beliefs_.believe(*knobs).mean), text_of(best_)));
  return true;
}

void Tuner::try_knobs(const KnobSetting& knobs, const std::string& why) {
  expected_ = beliefs_.believe(knobs);
  go_to(knobs, fmt::format("tries {}: {}", text_of(knobs), why));
}

// The settings that the choice depends on: the best, and the fastest, to which the best must be near.
std::optional<Standing> Tuner::to_confirm(const std::vector<Standing>& all, const Standing& best) const {
  if (best.trial->count() < kConfirmWindows) return best;
  if (searched_windows_ >= confirm_windows_max_) return std::nullopt;
  const Standing& fastest = *std::max_element(
      all.begin(), all.end(), [](const Standing& a, const Standing& b) { return a.rate_log.mean < b.rate_log.mean; });
  for (const Standing& standing : {best, fastest}) {
    if (standing.rate_log.sd > kSureEnough) return standing;
  }
  return std::nullopt;
}

void Tuner::settle(const Standing& best) {
  phase_ = Phase::kSettled;
  const Trial& trial = *best.trial;
  const double wait_share = trial.mean(&WindowReading::wait_share);
  const std::string held = wait_share < kWaitsLittle ? "and no cheaper setting keeps up"
                                                     : fmt::format("limited by {}, and no tried setting was faster",
                                                                   word_of(beliefs_.limit_of(trial)));
  go_to(trial.knobs, fmt::format("stays with {}: {}, the consumer waits {:.1f}% of the time, {}", text_of(trial.knobs),
                                 rate_text(best.rate_log.mean), 100 * wait_share, held));
  settled_watch_.begin(trial, beliefs_.trials().spread());
}

void Tuner::watch(const WindowReading& now) {
  if (const auto changed = settled_watch_.see(now, knobs_.threads, beliefs_.trials().spread())) {
    return reopen(changed->what, changed->by);
  }
  const std::optional<int> unchanged = settled_watch_.probe_due(now);
  if (!unchanged) return;
  const std::optional<KnobSetting> other = settled_watch_.prospect(beliefs_, knobs_, now);
  if (!other) return;
  phase_ = Phase::kProbe;
  best_ = knobs_;
  expected_ = beliefs_.believe(knobs_);
  go_to(*other, fmt::format("tries {} for one window, since nothing has changed for {}", text_of(*other),
                            counted(*unchanged, "window")));
}

void Tuner::judge_probe(const WindowReading& now, bool is_first) {
  const double more = now.rate_log - expected_.mean;
  if (more > std::max(SettledWatch::kChangeLeast, 3 * beliefs_.trials().spread())) {
    if (!is_first) return reopen("this setting is faster than the one settled on", more);
    return go_to(knobs_, fmt::format("measures {} again: it seems faster than the setting settled on ({:+.0f}%)",
                                     text_of(knobs_), 100 * std::expm1(more)));
  }
  phase_ = Phase::kSettled;
  go_to(best_, fmt::format("returns to {}: {} was not better", text_of(best_), text_of(knobs_)));
}

void Tuner::reopen(std::string_view because, double change) {
  // Of a search that is interrupted.
  const auto left = [&](int windows_max) { return phase_ == Phase::kSearch ? windows_max - searched_windows_ : 0; };
  search_windows_max_ = std::max(kSearchAgainWindows, left(search_windows_max_));
  confirm_windows_max_ = std::max(kConfirmAgainMost, left(confirm_windows_max_));
  phase_ = Phase::kSearch;
  searched_windows_ = 0;
  search_watch_.begin();
  beliefs_.forget();
  expected_ = beliefs_.believe(knobs_);
  expected_.sd = 1;  // nothing here is a surprise
  why_ = fmt::format("searches again, from {}: {}", text_of(knobs_), because);
  if (change != 0) why_ += fmt::format(" ({:+.0f}%)", 100 * std::expm1(change));
}

void Tuner::go_to(const KnobSetting& knobs, std::string why) {
  knobs_ = knobs;
  why_ = std::move(why);
}

}  // namespace stoker
