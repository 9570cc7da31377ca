#include "stoker/tuner/settled_watch.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace stoker {
namespace {

constexpr int kProbeEvery = 90;            // windows in which nothing changed
constexpr int kProbeWaiting = 40;          // where training waits, the first time; then after twice as many, each time,
constexpr int kProbeWaitingMost = 160;     // up to this
constexpr double kCostChangeLeast = 0.05;  // as kChangeLeast, of the training's steps and of what a sample costs

}  // namespace

void SettledWatch::begin(const Trial& chosen, double spread) {
  unchanged_windows_ = 0;
  probe_waiting_ = kProbeWaiting;
  looked_at_.clear();
  for (std::size_t part = 0; part < watches_.size(); ++part) {
    watches_[part].begin(chosen.mean(kWatchedParts[part].value), chosen.count(), spread);
  }
}

std::optional<Departure> SettledWatch::see(const WindowReading& now, int threads, double spread) {
  const bool waits = now.wait_share >= kWaitsLittle;
  std::optional<Departure> seen;
  for (std::size_t part = 0; part < watches_.size(); ++part) {
    ChangeWatch& watch = watches_[part];
    const auto value = kWatchedParts[part].value;
    // Training that does not wait goes as fast as its steps.
    const bool of_pace = value == &WindowReading::rate_log && waits;
    bool changed = watch.see(now.*value, of_pace ? kChangeLeast : kCostChangeLeast);
    if (changed && value == &WindowReading::cpu_log && !waits && (watch.change() > 0 || threads == 1)) {
      // Training is fed all the same, and would be by no fewer threads.
      watch.begin(now.cpu_log, 1, spread);
      changed = false;
    }
    if (changed && !seen) seen = Departure{kWatchedParts[part].what, watch.change()};
  }
  return seen;
}

std::optional<int> SettledWatch::probe_due(const WindowReading& now) {
  const bool waits = now.wait_share >= kWaitsLittle;
  if (++unchanged_windows_ < (waits ? probe_waiting_ : kProbeEvery)) return std::nullopt;
  if (waits) probe_waiting_ = std::min(2 * probe_waiting_, kProbeWaitingMost);
  return std::exchange(unchanged_windows_, 0);
}

std::optional<KnobSetting> SettledWatch::prospect(SettingBeliefs& beliefs, const KnobSetting& chosen,
                                                  const WindowReading& now) {
  beliefs.learn_surfaces();
  const Standing here = beliefs.standing(chosen);
  if (now.wait_share >= kWaitsLittle) return freed_index(beliefs, here);
  const Prospect prospect = beliefs.best_prospect(here, here.rate_log.mean);
  if (prospect.faster < kGainLeast || prospect.knobs == chosen) return std::nullopt;
  return prospect.knobs;
}

// Training waits. What held back another index, or more threads (a link, a store, cores that others had), may do so no
// longer, of which nothing shows here: one index after the other is looked at, if it would be better then.
std::optional<KnobSetting> SettledWatch::freed_index(const SettingBeliefs& beliefs, const Standing& here) {
  const KnobSetting& chosen = here.trial->knobs;
  const auto at_most = [&](const KnobSetting& knobs) { return beliefs.model().capacity_at_most(knobs).throughput(); };
  const auto looked_at = [&](const KnobSetting& knobs) {
    return std::find(looked_at_.begin(), looked_at_.end(), knobs.transfer_index) != looked_at_.end();
  };
  const std::vector<KnobSetting> others = beliefs.grid().around(chosen);
  std::optional<KnobSetting> found;
  double most = std::exp(here.rate_log.mean) * (1 + kChangeLeast);
  for (const KnobSetting& knobs : others) {
    const bool is_here = knobs.transfer_index == chosen.transfer_index && knobs.threads <= chosen.threads;
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
    if (as_good && beliefs.cost(knobs) < beliefs.cost(*found)) found = knobs;
  }
  looked_at_.push_back(found->transfer_index);
  return found;
}

}  // namespace stoker
