// The lines that `tune-sim` reads and writes: JSON, one object a line.
#pragma once

#include <string>
#include <string_view>

#include "stoker/tuner/tuner.h"

namespace stoker {

/// Both throw kUsage, which names the mistake in the line.
TunedWorkload parse_workload(std::string_view line);
TunerWindow parse_window(std::string_view line);

std::string knobs_line(const KnobSetting& knobs, std::string_view why);

}  // namespace stoker
