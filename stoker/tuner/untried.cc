#include "stoker/tuner/untried.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace stoker {
namespace {

constexpr double kThreadsSpare = 0.4;    // of what the CPU carries, above the fastest: threads also hold up each other
constexpr double kAsManyThreads = 0.35;  // doublings by which they may differ

template <typename Predicate>
bool any_trial(const SettingBeliefs& beliefs, Predicate predicate) {
  const std::vector<Trial>& all = beliefs.trials().all();
  return std::any_of(all.begin(), all.end(), predicate);
}

// The fastest setting with that index and depth, and as many threads: fewer may have limited it. kNoRate if there is
// none.
double tried_at_depth(const SettingBeliefs& beliefs, const KnobSetting& knobs) {
  double most = kNoRate;
  for (const Trial& trial : beliefs.trials().all()) {
    if (trial.knobs.io_depth != knobs.io_depth || trial.knobs.transfer_index != knobs.transfer_index) continue;
    if (std::log2(trial.knobs.threads) < std::log2(knobs.threads) - kAsManyThreads) continue;
    most = std::max(most, beliefs.trials().rate_log(trial).mean);
  }
  return most;
}

// Each other index with as many threads as could make it the fastest, by every explanation that counts.
std::vector<KnobSetting> other_indices(const SettingBeliefs& beliefs, const KnobSetting& here, double fastest) {
  const std::vector<std::size_t> likely = beliefs.likely_explanations();
  const auto carries = [&](const KnobSetting& knobs) {
    return std::none_of(likely.begin(), likely.end(), [&](std::size_t i) {
      return beliefs.model().capacity(knobs, i)[Resource::kCpu] < std::exp(fastest) * (1 + kThreadsSpare);
    });
  };
  std::vector<KnobSetting> others;
  for (const KnobSetting& knobs : beliefs.grid().around(here)) {
    if (knobs.transfer_index == here.transfer_index) continue;
    if (others.empty() || others.back().transfer_index != knobs.transfer_index) {
      others.push_back(knobs);
    } else if (!carries(others.back())) {
      others.back() = knobs;
    }
  }
  return others;
}

// The nearest first: a trial with fewer threads shows nothing about an index, and one with so many that they slow down
// training shows little. A model that is wrong about an index would never show that.
std::optional<KnobSetting> untried_index(const SettingBeliefs& beliefs, const Standing& best, double fastest) {
  const KnobSetting& here = best.trial->knobs;
  const auto steps = [&](const KnobSetting& knobs) { return std::abs(knobs.transfer_index - here.transfer_index); };
  const auto tried = [&](const KnobSetting& knobs) {
    return any_trial(beliefs, [&](const Trial& trial) {
      if (trial.knobs.transfer_index != knobs.transfer_index) return false;
      const double more = std::log2(static_cast<double>(trial.knobs.threads) / knobs.threads);
      return more > -kAsManyThreads && (more < kAsManyThreads || trial.mean(&WindowReading::wait_share) > kWaitsLittle);
    });
  };
  std::optional<KnobSetting> found;
  double most = kNoRate;
  for (const KnobSetting& knobs : other_indices(beliefs, here, fastest)) {
    if (tried(knobs) || beliefs.rate_log_max(knobs, best) <= fastest + kEnough) continue;
    const double expected = beliefs.believe(knobs).mean;
    const bool nearer = found && steps(knobs) < steps(*found), as_near = found && steps(knobs) == steps(*found);
    if (found && !nearer && !(as_near && expected > most)) continue;
    found = knobs;
    most = expected;
  }
  return found;
}

// With more of one knob, all else being the best's: the nearest that could show.
std::optional<KnobSetting> untried_more(const SettingBeliefs& beliefs, const Standing& best, int KnobSetting::*knob) {
  const KnobSetting& here = best.trial->knobs;
  const auto more = [&](const KnobSetting& knobs) {
    return knobs.transfer_index == here.transfer_index &&
           std::log2(knobs.*knob) - std::log2(here.*knob) > kAsManyThreads;
  };
  if (any_trial(beliefs, [&](const Trial& trial) { return more(trial.knobs); })) return std::nullopt;
  std::optional<KnobSetting> least;
  for (const KnobSetting& knobs : beliefs.grid().around(here)) {
    if (more(knobs) && (!least || knobs.*knob < *least.*knob)) least = knobs;
  }
  return least;
}

// Half as many threads: how much many threads take from training's cores, and from each other, shows only with fewer.
std::optional<KnobSetting> untried_fewer_threads(const SettingBeliefs& beliefs, const Standing& best) {
  const KnobSetting& here = best.trial->knobs;
  const auto fewer = [&](const KnobSetting& knobs) {
    return knobs.transfer_index == here.transfer_index &&
           std::log2(here.threads) - std::log2(knobs.threads) > kAsManyThreads;
  };
  if (any_trial(beliefs, [&](const Trial& trial) { return fewer(trial.knobs); })) return std::nullopt;
  std::optional<KnobSetting> half;
  for (const KnobSetting& knobs : beliefs.grid().around(here)) {
    if (fewer(knobs) && (!half || 2 * knobs.threads <= here.threads)) half = knobs;
  }
  return half;
}

}  // namespace

// If fewer reads do as well, more may never have been under way: still fewer may be slower.
std::optional<KnobSetting> untried_depth(const SettingBeliefs& beliefs, const Standing& best) {
  const KnobSetting& here = best.trial->knobs;
  for (std::optional<KnobSetting> knobs : beliefs.grid().depths_beside(here)) {
    while (knobs) {
      const double rate_log = tried_at_depth(beliefs, *knobs);
      if (rate_log == kNoRate) return knobs;
      if (knobs->io_depth > here.io_depth || rate_log < best.rate_log.mean - kEnough) break;
      const std::vector<KnobSetting> beside = beliefs.grid().depths_beside(*knobs);
      const auto fewer = std::find_if(beside.begin(), beside.end(),
                                      [&](const KnobSetting& other) { return other.io_depth < knobs->io_depth; });
      knobs = fewer == beside.end() ? std::nullopt : std::optional(*fewer);
    }
  }
  return std::nullopt;
}

std::optional<KnobSetting> untried(const SettingBeliefs& beliefs, const Standing& best, double fastest) {
  std::optional<KnobSetting> found = untried_index(beliefs, best, fastest);
  if (!found && best.trial->mean(&WindowReading::wait_share) > kWaitsLittle) {
    if (beliefs.may_hold(Resource::kStore, *best.trial)) found = untried_depth(beliefs, best);
    if (!found && beliefs.may_hold(Resource::kCpu, *best.trial)) {
      found = untried_more(beliefs, best, &KnobSetting::threads);
    }
    if (!found) found = untried_more(beliefs, best, &KnobSetting::prefetch);
  }
  return found ? found : untried_fewer_threads(beliefs, best);
}

}  // namespace stoker
