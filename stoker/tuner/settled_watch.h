// Detects changes after the knobs were chosen, and says when to try another setting, since the current setting does not
// show that another has become better. (While settings are tried, SearchWatch does that.)
#pragma once

#include <array>
#include <iterator>
#include <optional>
#include <vector>

#include "stoker/tuner/change_watch.h"
#include "stoker/tuner/departure.h"
#include "stoker/tuner/setting_beliefs.h"

namespace stoker {

class SettledWatch {
 public:
  static constexpr double kChangeLeast = 0.03;  // of the rate; smaller ones are not looked into

  /// A setting was chosen; `spread` is Trials::spread().
  void begin(const Trial& chosen, double spread);
  /// Another window with it, of as many threads: the first of kWatchedParts that has changed.
  std::optional<Departure> see(const WindowReading& now, int threads, double spread);

  /// Windows in which nothing changed, if so many that it is time to look elsewhere; they are counted anew then.
  std::optional<int> probe_due(const WindowReading& now);
  /// Which setting is worth a look after that, if any.
  std::optional<KnobSetting> prospect(SettingBeliefs& beliefs, const KnobSetting& chosen, const WindowReading& now);

 private:
  std::optional<KnobSetting> freed_index(const SettingBeliefs& beliefs, const Standing& here);

  std::array<ChangeWatch, std::size(kWatchedParts)> watches_;
  int unchanged_windows_ = 0;     // since the last probe
  int probe_waiting_ = 0;         // of these windows, until the next where training waits
  std::vector<int> looked_at_{};  // indices, by probes since it settled
};

}  // namespace stoker
