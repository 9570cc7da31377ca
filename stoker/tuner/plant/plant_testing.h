// A simulated machine on a virtual clock, for tests of the tuner: a loader's measurements there, window by window, and
// the setting that is truly the best.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/tuner/knob_setting.h"
#include "stoker/tuner/plant/plant_parts_testing.h"
#include "stoker/tuner/tuned_workload.h"
#include "stoker/tuner/tuner_window.h"

namespace stoker {

struct PlantBest {
  KnobSetting setting;
  double throughput = 0;  // samples/s
  KnobSetting cheapest;   // the fewest threads of all within 1% of it, and of those the fastest
  double cheapest_throughput = 0;
};

/// A value: a copy goes on by itself. Everything is a function of the parts, the changes and the windows run so far.
class Plant {
 public:
  static Plant random(std::uint64_t seed) { return Plant(random_plant_parts(seed)); }
  static Plant of(const PlantParts& parts) { return Plant(parts); }

  /// One line: what it is made of, what limits it, and its seed.
  std::string describe() const;
  /// As calibrated before the start; changes do not show in it.
  const TunedWorkload& workload() const { return told_; }
  const PlantParts& parts() const { return parts_; }

  /// The possible transfer indices, ascending: k is possible when the device can do every stage from k on.
  const std::vector<int>& indices() const { return indices_; }
  /// Whether the setting keeps every limit, that of the memory included.
  bool allowed(const KnobSetting& knobs) const;
  /// Powers of two up to the maximum, and the maximum.
  std::vector<int> prefetches() const;
  std::vector<int> io_depths() const;

  /// Samples/s now, without noise. The setting must be allowed, here and below.
  double throughput(const KnobSetting& knobs) const { return rates(knobs).throughput; }
  PlantRates rates(const KnobSetting& knobs) const { return plant_rates(parts_, moment(), knobs); }
  /// Now, of all allowed points of the grid threads x indices() x prefetches() x io_depths().
  const PlantBest& best() const;

  /// One window with this setting; the clock goes on.
  TunerWindow run(const KnobSetting& knobs);
  std::int64_t windows() const { return windows_; }

  /// What happens to a training from one moment to the next, at random; says what it was.
  std::string change(std::uint64_t seed);
  /// A neighbour takes so many cores for so many windows.
  void disturb(int cores, int windows);

 private:
  explicit Plant(PlantParts parts);

  PlantMoment moment() const;
  double drift() const;
  void add_part(const KnobSetting& knobs, double share, TunerWindow& window) const;
  void add_noise(TunerWindow& window) const;
  void pass_window();

  PlantParts parts_;
  TunedWorkload told_;
  std::vector<int> indices_;
  std::int64_t windows_ = 0;
  int cores_lost_ = 0;  // for good
  int cores_disturbed_ = 0, windows_disturbed_ = 0;
  std::optional<KnobSetting> last_;
  mutable std::optional<PlantBest> best_;  // of this moment
};

}  // namespace stoker
