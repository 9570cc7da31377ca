// The beliefs about every setting, from the description of the work and from trials: training's rate with it and its
// cost, and from these the best setting and the most promising one for the next window.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "stoker/tuner/knob_grid.h"
#include "stoker/tuner/pipeline_model.h"
#include "stoker/tuner/response_surface.h"
#include "stoker/tuner/trials.h"

namespace stoker {

inline constexpr double kEnough = 0.012;     // by which the best may be slower than the fastest, if it is cheaper
inline constexpr double kGainLeast = 0.003;  // a setting that promises less is not tried
inline constexpr int kTrialWindows = 8;      // of one setting; more would say no more
inline constexpr double kNoRate = -std::numeric_limits<double>::infinity();  // as a logarithm

/// A setting that was tried.
struct Standing {
  const Trial* trial;
  Belief rate_log;
  double cost;
};

/// A setting that may be worth a window.
struct Prospect {
  KnobSetting knobs;
  double gain = 0;    // expected of trying it: of training's rate, and of costs
  double faster = 0;  // of it, of the rate
  Belief rate_log{};
};

/// Between see() and what is asked of rates, learn_surfaces() has to be called.
class SettingBeliefs {
 public:
  SettingBeliefs(const TunedWorkload& workload, const TunerLimits& limits);
  SettingBeliefs(const SettingBeliefs&) = delete;
  SettingBeliefs& operator=(const SettingBeliefs&) = delete;

  const TunedWorkload& workload() const { return workload_; }
  const KnobGrid& grid() const { return grid_; }
  void limit_threads(int most) { grid_.limit_threads(most); }
  const PipelineModel& model() const { return model_; }
  const Trials& trials() const { return trials_; }

  /// A window with these knobs. `before` is the rate of the setting before, if that was another.
  void see(const KnobSetting& knobs, const TunerWindow& window, std::optional<Belief> before);
  /// Something has changed: of what was seen, only the costs still count.
  void forget();
  /// After forget(): the last window, which showed the change, is the first one of what is now.
  void see_again(const KnobSetting& knobs, const TunerWindow& window);
  void learn_surfaces();

  /// Of the rate, as a logarithm.
  Belief believe(const KnobSetting& knobs) const;
  /// Of the setting's threads, batches and seconds, as a part of training's rate.
  double cost(const KnobSetting& knobs) const;
  /// The cheapest of those that are nearly the fastest by the costs that were stated: where to begin.
  KnobSetting first() const;

  /// Of all that were tried and are permitted.
  std::vector<Standing> standings() const;
  /// That of this setting, which was tried and is permitted.
  Standing standing(const KnobSetting& knobs) const;
  static double fastest_of(const std::vector<Standing>& standings);
  static Standing best_of(const std::vector<Standing>& standings);
  Prospect best_prospect(const Standing& best, double fastest) const;
  /// What training would do at a setting's index if it never waited.
  double rate_log_max(const KnobSetting& knobs, const Standing& best) const;

  /// The model's explanations that count.
  std::vector<std::size_t> likely_explanations() const;
  /// What holds it back: training that hardly waits is held back by itself, and training that waits never is.
  Resource limit_of(const Trial& trial) const;
  /// Whether the resource holds it back by any explanation that counts.
  bool may_hold(Resource resource, const Trial& trial) const;

  /// As people write it.
  std::string text_of(const KnobSetting& knobs) const;

 private:
  Belief believe(const KnobSetting& knobs, std::size_t explanation) const;

  const TunedWorkload workload_;
  KnobGrid grid_;
  PipelineModel model_;
  Trials trials_;
  std::vector<ResponseSurface> surfaces_;  // of what each of the model's explanations leaves unexplained
};

}  // namespace stoker
