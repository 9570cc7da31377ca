// Finds the knobs with which training is fed at the least cost, by trying them while it runs. It is told how each
// window went and says with what knobs the next is to run, and why. It never looks at data, starts no thread and reads
// no clock: whoever runs the pipeline drives it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/tuner/change_watch.h"
#include "stoker/tuner/knob_grid.h"
#include "stoker/tuner/pipeline_model.h"
#include "stoker/tuner/response_surface.h"
#include "stoker/tuner/trials.h"

namespace stoker {

struct TunerOptions {
  TunerLimits limits{};
  std::optional<KnobSetting> start{};  // where to begin, as far as that is permitted, and
  std::string start_is{};              // what that is, in a few words
  bool once = false;                   // settle for good: what changes later is left as it is
};

/// The settings are ordered by what training gains, then by threads, then by the device's time: of those with which it
/// goes within a little of the fastest, the cheapest is the best.
class Tuner {
 public:
  explicit Tuner(const TunedWorkload& workload, TunerOptions options = {});
  Tuner(const Tuner&) = delete;
  Tuner& operator=(const Tuner&) = delete;

  /// For the next window.
  const KnobSetting& knobs() const { return knobs_; }
  /// One sentence on how the knobs came to be these.
  const std::string& why() const { return why_; }
  /// These knobs are thought the best, and stay until something changes; seldom, for one window, another is looked at.
  bool settled() const { return phase_ == Phase::kSettled || phase_ == Phase::kProbe; }

  /// How the window with knobs() went. One without samples tells nothing and changes nothing.
  void see(const TunerWindow& window);
  /// The threads that may be used have become fewer or more. Where more could help, it looks again.
  void limit_threads(int most);

  const PipelineModel& model() const { return model_; }

 private:
  enum class Phase : std::uint8_t { kSearch, kSettled, kProbe };

  struct Standing {  // of one tried setting
    const Trial* trial;
    Belief rate_log;
    double cost;
  };
  struct Prospect {
    KnobSetting knobs;
    double gain = 0;    // expected of trying it: of training's rate, and of costs
    double faster = 0;  // of it, of the rate
    Belief rate_log{};
  };

  void search();
  std::string text_of(const KnobSetting& knobs) const;
  double oddness(const WindowReading& now, const TunerWindow& window) const;
  bool notice_change(const WindowReading& now, const TunerWindow& window, double odd);
  std::string doubt_of(const Trial& trial) const;
  bool try_another(const Standing& best, double fastest);
  bool try_untried(const Standing& best, double fastest);
  void try_knobs(const KnobSetting& knobs, const std::string& why);
  bool may_hold(Resource resource, const Trial& trial) const;
  std::optional<KnobSetting> untried_depth(const Standing& best) const;
  double tried_at_depth(const KnobSetting& knobs) const;
  std::optional<KnobSetting> untried_index(const Standing& best, double fastest) const;
  std::optional<KnobSetting> untried_more(const Standing& best, int KnobSetting::*knob) const;
  std::optional<KnobSetting> untried_fewer_threads(const Standing& best) const;
  const Standing* to_confirm(const std::vector<Standing>& all, const Standing& best) const;
  const Trial* to_compare(const Standing& best) const;
  void settle(const Standing& best);
  Resource limit_of(const Trial& trial) const;
  WindowReading read(const TunerWindow& window) const;
  Belief rate_before() const;
  void watch(const WindowReading& now);
  void probe(const WindowReading& now);
  std::optional<KnobSetting> prospect_elsewhere(const Standing& here) const;
  std::optional<KnobSetting> freed_index(const Standing& here);
  void judge_probe(const WindowReading& now, bool is_first);
  void reopen(std::string_view because, double change);

  void learn_surfaces(double drift_per_window);
  Belief believe(const KnobSetting& knobs, std::size_t explanation) const;
  Belief believe(const KnobSetting& knobs) const;
  std::vector<Standing> standings() const;
  Standing best_of(const std::vector<Standing>& standings) const;
  double fastest_of(const std::vector<Standing>& standings) const;
  Prospect best_prospect(const Standing& best, double fastest) const;
  double rate_log_max(const KnobSetting& knobs, const Standing& best) const;
  double cost(const KnobSetting& knobs) const;
  bool surprised(double rate_log, const Belief& expected) const;
  void go_to(const KnobSetting& knobs, std::string why);

  struct Past {  // how a setting did against the model, before something changed
    KnobSetting knobs;
    double off, error_sd;
  };

  const TunedWorkload workload_;
  const TunerOptions options_;
  KnobGrid grid_;
  PipelineModel model_;
  Trials trials_;
  std::vector<Past> past_;
  std::vector<ResponseSurface> surfaces_;  // of what each of the model's explanations leaves unexplained

  Phase phase_ = Phase::kSearch;
  KnobSetting knobs_;
  std::string why_;
  Belief expected_{};                  // of knobs_, before they were tried
  bool returned_ = false;              // to a setting that is known, to see whether something has changed
  std::optional<KnobSetting> unlike_;  // what it went back from
  bool compared_ = false;              // what was tried first with itself, at the end of the search
  double odd_least_;                   // that makes it go back
  double calm_spread_ = 0;             // of windows, while nothing seemed to have changed
  int settled_windows_ = 0;            // since the last probe
  int probe_waiting_ = 0;              // of these windows, until the next where training waits
  std::vector<int> looked_at_{};       // indices, by probes since it settled
  int searched_windows_ = 0;           // since the search began
  int search_windows_max_, confirm_windows_max_;
  std::optional<KnobSetting> best_;  // so far
  std::optional<WindowReading> last_;
  KnobSetting last_knobs_;
  ChangeWatch rate_watch_, step_watch_, cpu_watch_, device_watch_;
};

}  // namespace stoker
