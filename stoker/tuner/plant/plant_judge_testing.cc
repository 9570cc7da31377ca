#include "stoker/tuner/plant/plant_judge_testing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stoker/base/random.h"

namespace stoker {
namespace {

constexpr int kAround = 10;    // windows to either side that say what is settled
constexpr int kProbeLong = 2;  // windows that a look at another setting may take and still be one

std::string text_of(const KnobSetting& knobs) {
  return fmt::format("{} threads, index {}, prefetch {}, depth {}", knobs.threads, knobs.transfer_index, knobs.prefetch,
                     knobs.io_depth);
}

// One phase as it went.
struct Record {
  std::vector<KnobSetting> settings;
  std::vector<double> losses;
  int excused_from = 0, excused_to = 0;  // while a neighbour is there, and as long as a return may take

  int size() const { return static_cast<int>(settings.size()); }
  const KnobSetting& at(int window) const { return settings[static_cast<std::size_t>(window)]; }
  bool is_excused(int window) const { return window >= excused_from && window < excused_to; }
  bool is_near(int window) const {
    return losses[static_cast<std::size_t>(window)] <= PlantGoals::kLoss || is_excused(window);
  }

  // The most frequent setting around a window; of two as frequent, the later one.
  KnobSetting settled(int window) const {
    const int first = std::max(0, window - kAround), end = std::min(size(), window + kAround + 1);
    KnobSetting most = at(window);
    std::ptrdiff_t most_often = 0;
    for (int other = end - 1; other >= first; --other) {
      const auto often = std::count(settings.begin() + first, settings.begin() + end, at(other));
      if (often > most_often) {
        most = at(other);
        most_often = often;
      }
    }
    return most;
  }

  // Windows until all that follow are near, but for looks at other settings that come back to the one before.
  int settled_after() const {
    for (int window = size() - 1; window >= 0; --window) {
      if (is_near(window)) continue;
      int before = window;
      while (before >= 0 && window - before < kProbeLong && !is_near(before)) --before;
      if (before < 0 || !is_near(before)) return window + 1;
      int after = window + 1;
      while (after < size() && after - before <= kProbeLong && at(after) != at(before)) ++after;
      if (after < size() && at(after) != at(before)) return window + 1;
      window = before;
    }
    return 0;
  }

  // Windows from this one on that are not at the settled setting, and how often that changes; in 50 windows.
  double probes_from(int first) const {
    int probes = 0, windows = 0;
    for (int window = first; window < size(); ++window) {
      if (is_excused(window)) continue;
      ++windows;
      const KnobSetting now = settled(window);
      probes += at(window) != now;
      probes += window > first && settled(window - 1) != now;
    }
    return windows > 0 ? 50.0 * probes / windows : 0;
  }
};

PlantPhase phase_of(const Record& record, const Plant& plant, int allowed) {
  PlantPhase phase;
  phase.settled = record.settled(record.size() - 1);
  phase.best = plant.best();
  phase.loss = 1 - plant.throughput(phase.settled) / phase.best.throughput;
  phase.settled_after = record.settled_after();
  phase.in_time = phase.settled_after <= allowed;
  phase.probes = record.probes_from(allowed);
  phase.regret = std::accumulate(record.losses.begin(), record.losses.end(), 0.0);
  return phase;
}

std::string text_of(const PlantPhase& phase) {
  return fmt::format("{} loses {:.1f}% (cheapest: {}), settled after {}, {:.1f} probes in 50, regret {:.1f}{}{}{}",
                     text_of(phase.settled), 100 * phase.loss, text_of(phase.best.cheapest), phase.settled_after,
                     phase.probes, phase.regret, phase.near() ? "" : "; NOT NEAR",
                     phase.thrifty() ? "" : "; NOT THRIFTY", phase.quiet() ? "" : "; NOT QUIET");
}

PlantTally tally(const std::vector<PlantVerdict>& verdicts, PlantPhase PlantVerdict::*phase) {
  PlantTally tally;
  std::vector<std::pair<double, std::uint64_t>> losses;
  std::vector<int> settled;
  for (const PlantVerdict& verdict : verdicts) {
    if (verdict.broken) continue;
    const PlantPhase& of = verdict.*phase;
    ++tally.plants;
    tally.near += of.near();
    tally.thrifty += of.thrifty();
    tally.quiet += of.quiet();
    tally.near_and_thrifty += of.near() && of.thrifty();
    tally.loss_mean += of.loss;
    tally.threads_mean += static_cast<double>(of.settled.threads) / of.best.cheapest.threads;
    tally.regret_mean += of.regret;
    losses.emplace_back(of.loss, verdict.seed);
    settled.push_back(of.settled_after);
  }
  if (tally.plants == 0) return tally;
  for (double* sum : {&tally.near, &tally.thrifty, &tally.quiet, &tally.near_and_thrifty, &tally.loss_mean,
                      &tally.threads_mean, &tally.regret_mean}) {
    *sum /= tally.plants;
  }
  std::ranges::sort(losses, std::greater<>());
  tally.loss_worst = losses.front().first;
  for (std::size_t i = 0; i < std::min<std::size_t>(5, losses.size()); ++i) tally.worst.push_back(losses[i].second);
  const auto middle = settled.begin() + static_cast<std::ptrdiff_t>(settled.size() / 2);
  std::ranges::nth_element(settled, middle);
  tally.settled_median = *middle;
  return tally;
}

}  // namespace

int PlantGoals::threads(int cheapest) { return std::max(cheapest + 1, static_cast<int>(1.25 * cheapest)); }

PlantVerdict judge(Plant& plant, const PlantTuner& tuner, const PlantRun& run) {
  PlantVerdict verdict;
  verdict.seed = plant.parts().seed;
  verdict.plant = plant.describe();
  std::optional<TunerWindow> last;
  const auto go = [&](int windows, int disturb_at) -> std::optional<Record> {
    Record record;
    if (disturb_at >= 0) {
      record.excused_from = disturb_at;
      record.excused_to = disturb_at + run.disturb_windows + PlantGoals::kBack;
    }
    for (int window = 0; window < windows; ++window) {
      if (window == disturb_at) plant.disturb(run.disturb_cores, run.disturb_windows);
      const KnobSetting knobs = tuner(last ? &*last : nullptr);
      if (!plant.allowed(knobs)) {
        verdict.broken = fmt::format("window {}: {} is not allowed", plant.windows(), text_of(knobs));
        return std::nullopt;
      }
      record.settings.push_back(knobs);
      record.losses.push_back(1 - plant.throughput(knobs) / plant.best().throughput);
      last = plant.run(knobs);
    }
    return record;
  };
  const int until_change = run.changes.empty() ? run.windows : run.changes.front().window;
  const std::optional<Record> cold = go(until_change, run.disturb_at);
  if (!cold) return verdict;
  verdict.cold = phase_of(*cold, plant, PlantGoals::kSettled);
  for (std::size_t i = 0; i < run.changes.size(); ++i) {
    const int at = run.changes[i].window;
    verdict.change += fmt::format("{}at {}: {}", i > 0 ? "; " : "", at, plant.change(run.changes[i].seed));
    const bool is_last = i + 1 == run.changes.size();
    const std::optional<Record> changed = go(is_last ? run.windows_after : run.changes[i + 1].window - at, -1);
    if (!changed) return verdict;
    if (!is_last) continue;
    // In the middle of a search, or soon after one, it may take as long as a cold start.
    const bool had_settled = i == 0 && at >= PlantGoals::kSettled;
    verdict.changed = phase_of(*changed, plant, had_settled ? PlantGoals::kBack : PlantGoals::kSettled);
  }
  return verdict;
}

std::vector<PlantChange> random_changes(std::uint64_t seed) {
  constexpr std::uint64_t kMomentStream = 3;
  Random random(seed, 0, 0, kMomentStream);
  std::vector<PlantChange> changes(1 + random.below(3));
  int window = 0;
  for (PlantChange& change : changes) {
    window += 1 + static_cast<int>(random.below(PlantGoals::kSettled));
    change = {window, random.below(1'000'000)};
  }
  return changes;
}

std::string PlantVerdict::describe() const {
  std::string text = plant;
  if (broken) return text + "\n  BROKEN in " + *broken;
  text += "\n  " + text_of(cold);
  if (!change.empty()) text += fmt::format("\n  then {}: {}", change, text_of(changed));
  return text;
}

bool PlantTally::holds() const {
  return plants > 0 && near_and_thrifty >= PlantGoals::kShare && quiet >= PlantGoals::kShare &&
         loss_worst <= PlantGoals::kLossWorst;
}

std::string PlantTally::describe() const {
  return fmt::format(
      "{} plants: near {:.1f}%, thrifty {:.1f}%, both {:.1f}%, quiet {:.1f}%; loss {:.2f}% on average, {:.1f}% at "
      "worst; "
      "settled after {:.0f} (median), {:.2f} x the cheapest threads, regret {:.2f}; worst seeds {}",
      plants, 100 * near, 100 * thrifty, 100 * near_and_thrifty, 100 * quiet, 100 * loss_mean, 100 * loss_worst,
      settled_median, threads_mean, regret_mean, fmt::join(worst, " "));
}

bool PlantSummary::holds() const { return broken == 0 && cold.holds() && (!changed || changed->holds()); }

std::string PlantSummary::describe() const {
  std::string text = "cold: " + cold.describe();
  if (changed) text += "\nchanged: " + changed->describe();
  if (broken > 0) text += fmt::format("\nlimits broken on {}: {}", broken, fmt::join(broken_seeds, " "));
  return text;
}

PlantSummary judge_random_plants(const PlantTunerMaker& maker, const PlantSeeds& seeds, const PlantRun& run) {
  PlantSummary summary;
  for (int i = 0; i < seeds.count; ++i) {
    const std::uint64_t seed = seeds.first + static_cast<std::uint64_t>(i);
    Plant plant = Plant::random(seed);
    PlantRun its = run;
    if (seeds.changes == PlantChanges::kOnceSettled) its.changes = {{its.windows, seed}};
    if (seeds.changes == PlantChanges::kAtRandomMoments) its.changes = random_changes(seed);
    summary.verdicts.push_back(judge(plant, maker(plant), its));
    if (!summary.verdicts.back().broken) continue;
    ++summary.broken;
    summary.broken_seeds.push_back(seed);
  }
  summary.cold = tally(summary.verdicts, &PlantVerdict::cold);
  if (seeds.changes != PlantChanges::kNone || !run.changes.empty())
    summary.changed = tally(summary.verdicts, &PlantVerdict::changed);
  return summary;
}

}  // namespace stoker
