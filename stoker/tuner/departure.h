// Checks whether a search's earlier windows still hold. Since each window may have another setting, the values that
// should be constant are compared setting by setting: the training's steps, a sample's costs, and the rate. (Once the
// knobs stay, SettledWatch does that.)
#pragma once

#include <optional>
#include <string_view>

#include "stoker/tuner/trials.h"

namespace stoker {

/// The values that should be constant. Earlier ones explain later ones.
struct WatchedPart {
  double WindowReading::*value;
  std::string_view what;
  // Of no matter by itself: what a sample costs a loader that mostly sleeps, or a GPU beside a training's kernels, is
  // another number from window to window, while the rate stays.
  bool explains_only = false;
};
inline constexpr WatchedPart kWatchedParts[] = {
    {&WindowReading::step_log, "the training's own steps have changed"},
    {&WindowReading::cpu_log, "a sample's cost on the CPU has changed", true},
    {&WindowReading::device_log, "a sample's cost on the device has changed", true},
    {&WindowReading::rate_log, "the rate has changed"}};

/// A value has changed by this much, as a logarithm.
struct Departure {
  std::string_view what;
  double by;
};

/// The distance of a setting's last windows from all its earlier ones, if for each of them it is more than noise, and
/// more than the setting that ran before could have caused. One such window calls for another; two in a row show that
/// something has changed. `spread` is Trials::spread().
std::optional<Departure> departure(const Trial& trial, double spread, int windows);

}  // namespace stoker
