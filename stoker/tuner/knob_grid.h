// The settings that a tuner may choose from: limited by the knobs that the user fixed, by the work, and by memory.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "stoker/tuner/knob_setting.h"
#include "stoker/tuner/tuned_workload.h"

namespace stoker {

/// The knobs that the user fixed, and the limits of the others.
struct TunerLimits {
  Knobs fixed{};
  std::optional<int> threads_max{};  // unset: as threads_max() has it
  // Into memory: what is made ahead at an index; empty: host_bytes() says.
  std::function<bool(int transfer_index, int prefetch)> fits{};
};

/// Moderate initial values, enough for most work.
inline constexpr int kPrefetchFirst = 4;

class KnobGrid {
 public:
  KnobGrid(const TunedWorkload& workload, const TunerLimits& limits);

  /// No more threads than this from now on, unless the user fixed their number; 1 at least.
  void limit_threads(int most);
  int most_threads() const { return threads_.back(); }

  /// Whether it keeps every limit.
  bool permits(const KnobSetting& knobs) const;
  /// The nearest setting that does, with no larger knob if possible.
  KnobSetting permitted(const KnobSetting& knobs) const;
  /// All threads and indices, with a moderate prefetch and I/O depth.
  std::vector<KnobSetting> first() const;
  /// All threads and indices with this prefetch, or less where no more fits, and this I/O depth; and this setting with
  /// one of those a step or two away.
  std::vector<KnobSetting> around(const KnobSetting& knobs) const;

  /// This setting with one step less, and more, of I/O depth.
  std::vector<KnobSetting> depths_beside(const KnobSetting& knobs) const;

 private:
  void add_steps(const KnobSetting& knobs, int KnobSetting::*knob, const std::vector<int>& values, int first, int last,
                 std::vector<KnobSetting>& to) const;
  bool fits(const KnobSetting& knobs) const;
  void add_index(int index, int prefetch, int io_depth, std::vector<KnobSetting>& to) const;

  TunedWorkload workload_;
  TunerLimits limits_;
  bool memory_counts_ = true;
  std::vector<int> threads_, indices_, prefetches_, io_depths_;  // rising
};

}  // namespace stoker
