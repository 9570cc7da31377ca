// A tuning report's numbers as people write them.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/tuner/knob_setting.h"
#include "stoker/tuner/tuner_window.h"

namespace stoker {

/// Shown for a value that is not known.
inline constexpr const char* kUnknown = "–";

/// Samples a second and the share of time that the consumer waited; NaN if the window does not show it.
double rate_of(const TunerWindow& window);
double wait_share_of(const TunerWindow& window);

/// "1,234", "12.3", "0.0123".
std::string number_text(double value);
/// "12", "1,281,167".
std::string count_text(std::int64_t value);
/// "0.3%", "31%".
std::string share_text(double share);
/// "12.3 s", "3 min 20 s", "1 h 04 min".
std::string time_text(double seconds);
/// "6 threads at index 2, prefetch 4, I/O depth 32"; without a device, "6 threads, prefetch 4, I/O depth 32".
std::string knobs_text(const KnobSetting& knobs, bool has_device);

}  // namespace stoker
