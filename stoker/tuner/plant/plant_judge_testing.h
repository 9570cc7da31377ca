// Judges a tuner on simulated machines: how near it came to the best setting, how soon, with how many threads, and how
// quietly it stayed there.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/tuner/knob_setting.h"
#include "stoker/tuner/plant/plant_testing.h"
#include "stoker/tuner/tuner_window.h"

namespace stoker {

/// The setting for the next window, from the one that ended; from null, the first.
using PlantTuner = std::function<KnobSetting(const TunerWindow*)>;
/// A tuner for this plant, which outlives it. An honest one looks at workload() alone.
using PlantTunerMaker = std::function<PlantTuner(const Plant&)>;

/// Something changes while the tuner is at work, whatever it is doing then.
struct PlantChange {
  int window = 0;          // from the start on, before which it comes
  std::uint64_t seed = 0;  // of Plant::change()
};

/// What happens to the plant while the tuner is at work.
struct PlantRun {
  int windows = 160;                   // from a cold start, where nothing changes
  std::vector<PlantChange> changes{};  // in order
  int windows_after = 110;             // the last of them
  // Window of the cold start at which a neighbour comes; negative: none. Until kBack windows after it has gone, nothing
  // is held against the tuner but a limit that it does not keep.
  int disturb_at = -1;
  int disturb_cores = 1, disturb_windows = 20;
};

/// What must hold, on each plant and over many.
struct PlantGoals {
  static constexpr double kLoss = 0.03;       // of the best throughput, on most plants
  static constexpr double kLossWorst = 0.08;  // on any
  static constexpr double kShare = 0.95;      // of plants, that most are
  static constexpr int kSettled = 60;         // windows from a cold start
  static constexpr int kBack = 30;            // windows after a change, where it had settled
  static constexpr double kProbes = 1;        // of 50 windows in steady state
  static int threads(int cheapest);           // at most
};

/// From one start, cold or a change, until the next.
struct PlantPhase {
  // The settled setting is the one that most of the windows around have, ten to either side; of the phase's end, below.
  KnobSetting settled;
  PlantBest best;         // at that moment
  double loss = 0;        // of settled, without noise, then; a share of the best throughput
  int settled_after = 0;  // windows until the loss stayed within kLoss, apart from probes
  double probes = 0;      // in 50 windows, later than allowed for settling: windows off the settled setting, and each
                          // change of that
  double regret = 0;      // losses of all windows, summed

  bool in_time = false;
  bool near() const { return loss <= PlantGoals::kLoss && in_time; }
  bool thrifty() const { return settled.threads <= PlantGoals::threads(best.cheapest.threads); }
  bool quiet() const { return probes <= PlantGoals::kProbes; }
};

struct PlantVerdict {
  std::uint64_t seed = 0;
  std::string plant, change;          // in words
  std::optional<std::string> broken;  // a limit that was not kept, and with which setting; the run ended there
  PlantPhase cold, changed;  // from the start to the first change; from the last one to the end, if there was any

  std::string describe() const;
};

PlantVerdict judge(Plant& plant, const PlantTuner& tuner, const PlantRun& run = {});

/// Of one phase on many plants.
struct PlantTally {
  int plants = 0;
  double near = 0, thrifty = 0, quiet = 0;  // shares of plants
  double near_and_thrifty = 0;
  double loss_mean = 0, loss_worst = 0;
  double settled_median = 0;         // windows
  double threads_mean = 0;           // as many times as the cheapest
  double regret_mean = 0;            // windows
  std::vector<std::uint64_t> worst;  // seeds of the five with the largest losses, the largest first

  bool holds() const;
  std::string describe() const;
};

struct PlantSummary {
  int broken = 0;
  std::vector<std::uint64_t> broken_seeds;
  PlantTally cold;
  std::optional<PlantTally> changed;
  std::vector<PlantVerdict> verdicts;

  bool holds() const;
  std::string describe() const;
};

enum class PlantChanges : std::uint8_t {
  kNone,
  kOnceSettled,      // one, when the cold start is over
  kAtRandomMoments,  // one to three, in the middle of a search as well as later: random_changes()
};

/// From the start and from each other at most kSettled windows away, each moment as likely as any other.
std::vector<PlantChange> random_changes(std::uint64_t seed);

/// Judges a tuner on random plants of these seeds, `count` from `first`.
struct PlantSeeds {
  std::uint64_t first = 1;
  int count = 300;
  PlantChanges changes = PlantChanges::kNone;
};
PlantSummary judge_random_plants(const PlantTunerMaker& maker, const PlantSeeds& seeds = {}, const PlantRun& run = {});

}  // namespace stoker
