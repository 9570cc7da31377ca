// The measurements at each tried setting, made comparable: training's rate there, and its uncertainty.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "stoker/tuner/knob_setting.h"
#include "stoker/tuner/response_surface.h"
#include "stoker/tuner/tuner_window.h"

namespace stoker {

/// Of one window. Logarithms, but for the share.
struct WindowReading {
  double rate_log;             // samples a second
  double step_log;             // seconds of the consumer's step
  double wait_share;           // of the consumer's time
  double cpu_log, device_log;  // a sample's busy seconds on either side, and kNoSeconds
};

inline constexpr double kNoSeconds = 1e-9;

/// Of a window that has samples and seconds.
WindowReading reading_of(const TunerWindow& window, int batch);

/// What is left of a window if as much of it as may be is of the setting before.
WindowReading own_reading(const WindowReading& seen, const WindowReading& before);

/// Of one setting.
struct Trial {
  struct Window {
    WindowReading reading;
    /// The rate of the setting before, if that was another: some of these samples may be of it.
    std::optional<Belief> before{};
    std::optional<WindowReading> left{};      // its last window, and
    std::optional<WindowReading> left_own{};  // that without what it may have had of the one before in its turn

    double jump() const { return before ? reading.rate_log - before->mean : 0; }
  };

  KnobSetting knobs;
  std::vector<Window> windows;
  int age = 0;  // windows of other settings since the last

  int count() const { return static_cast<int>(windows.size()); }
  /// The mean over the windows; without those that were the first after a change, if there are others.
  double mean(double WindowReading::*part) const;
};

class Trials {
 public:
  static constexpr double kDriftPerWindow = 0.0005;

  /// `expected_step_s` says how long the consumer's step may be expected to be at a setting, in proportion to others.
  explicit Trials(std::function<double(const KnobSetting&)> expected_step_s);

  /// All of it, but for what first windows after a change are worth.
  void clear();
  /// Another window. `before` is the rate of the setting before, if that was another.
  void add(const KnobSetting& knobs, const WindowReading& reading, std::optional<Belief> before);

  const std::vector<Trial>& all() const { return trials_; }
  const Trial* find(const KnobSetting& knobs) const;
  /// How windows of one setting differ, as a standard deviation.
  double spread() const { return spread_; }
  /// Whether first windows after a change were compared with second ones often enough to know what they are worth.
  bool knows_carry() const;

  /// The setting's rate, rid of what only the consumer's own steps differed by, where it was they that set the pace.
  /// With every window since, it may have become another by this much.
  Belief rate_log(const Trial& trial, double drift_per_window = kDriftPerWindow) const;
  /// Of the consumer's step; unset before any trial at that index.
  std::optional<Belief> step_log(const KnobSetting& knobs) const;

 private:
  void learn_carry(const Trial& trial);
  Belief without_carry(const Trial::Window& window) const;
  void learn_spread();
  bool counts(const Trial& trial, const Trial::Window& window) const;
  Belief middle_rate(const Trial& trial, double drift_per_window) const;

  std::function<double(const KnobSetting&)> expected_step_s_;
  std::vector<Trial> trials_;
  std::optional<WindowReading> last_, last_own_;
  double spread_ = 0, step_spread_ = 0;
  Belief carry_;  // the part of a first window's samples that the setting before made
};

}  // namespace stoker
