// Which knobs were never turned since something changed: whatever a model expects of them, only a trial tells. The
// tuner does not settle before each knob that could help was turned.
#pragma once

#include <optional>

#include "stoker/tuner/setting_beliefs.h"

namespace stoker {

/// The most useful of those below; none where all of them were tried.
std::optional<KnobSetting> untried(const SettingBeliefs& beliefs, const Standing& best, double fastest);

/// The best with another I/O depth. How a store does with more reads at once, or fewer, follows from nothing that was
/// seen at one depth.
std::optional<KnobSetting> untried_depth(const SettingBeliefs& beliefs, const Standing& best);

}  // namespace stoker
