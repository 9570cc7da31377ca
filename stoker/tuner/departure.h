// Whether what a search has seen so far still holds. Where each window may have another setting, what should have
// stayed the same is compared setting by setting: the training's steps, what a sample costs, and the rate. (Once the
// knobs stay, SettledWatch does that.)
#pragma once

#include <optional>
#include <string_view>

#include "stoker/tuner/trials.h"

namespace stoker {

/// What should stay as it is. What comes first explains what comes later.
struct WatchedPart {
  double WindowReading::*value;
  std::string_view what;
};
inline constexpr WatchedPart kWatchedParts[] = {
    {&WindowReading::step_log, "the training's own steps have changed"},
    {&WindowReading::cpu_log, "what a sample costs the CPU has changed"},
    {&WindowReading::device_log, "what a sample costs the device has changed"},
    {&WindowReading::rate_log, "the rate has changed"}};

/// Something is no longer what it was, by this much, as a logarithm.
struct Departure {
  std::string_view what;
  double by;
};

/// How far a setting's last windows lie from all those before them, if each of them does by more than noise, and by
/// more than the setting that ran before could have made of it. One window says that another is worth while; two in a
/// row, that something has changed.
/// `spread` is Trials::spread().
std::optional<Departure> departure(const Trial& trial, double spread, int windows);

}  // namespace stoker
