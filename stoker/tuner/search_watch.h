// Detects a change while settings are tried, since windows before it cannot be compared with windows after it. (Once
// the knobs stay, SettledWatch does that.)
#pragma once

#include <optional>
#include <string>

#include "stoker/tuner/departure.h"
#include "stoker/tuner/setting_beliefs.h"

namespace stoker {

class SearchWatch {
 public:
  /// A search begins, or begins again.
  void begin();

  /// Before the window is learnt: how far the steps, or what a sample costs, are from what other settings let expect,
  /// beyond what they may differ by.
  static double oddness(const SettingBeliefs& beliefs, const KnobSetting& knobs, const TunerWindow& window);

  /// After it is learnt: what has changed, for sure.
  std::optional<Departure> changed(const SettingBeliefs& beliefs, const KnobSetting& knobs) const;

  /// What to run for the next window before the search goes on, and why.
  struct Check {
    KnobSetting knobs;
    std::string why;
  };
  /// If another window has to tell whether something has changed.
  std::optional<Check> check(const SettingBeliefs& beliefs, const KnobSetting& knobs, double odd);
  /// Before it settles: the setting that was left the longest ago, once in a search.
  std::optional<Check> last_check(const SettingBeliefs& beliefs, const Standing& best);

  /// The setting that it went back from, which has had but one window; else this one.
  KnobSetting take_tried(const KnobSetting& knobs);
  /// Some settings are no longer permitted.
  void narrow(const KnobGrid& grid);

 private:
  double spread(const SettingBeliefs& beliefs) const;

  bool returned_ = false;              // to a setting that is known
  std::optional<KnobSetting> unlike_;  // what it went back from
  bool compared_ = false;              // what was tried first with itself, at the end of the search
  double odd_least_ = 0;               // that makes it go back
  double calm_spread_ = 0;             // of windows, while nothing seemed to have changed
};

}  // namespace stoker
