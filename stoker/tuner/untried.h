// Finds knobs that were not turned since the last change: only a trial shows their effect, no matter what a model
// expects. The tuner does not settle before each knob that could help was turned.
#pragma once

#include <optional>

#include "stoker/tuner/setting_beliefs.h"

namespace stoker {

/// The most useful of those below; none if all were tried.
std::optional<KnobSetting> untried(const SettingBeliefs& beliefs, const Standing& best, double fastest);

/// The best with another I/O depth. A store's rate with more reads at once, or fewer, cannot be predicted from one
/// depth.
std::optional<KnobSetting> untried_depth(const SettingBeliefs& beliefs, const Standing& best);

}  // namespace stoker
