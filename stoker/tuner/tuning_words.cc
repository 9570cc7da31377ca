#include "stoker/tuner/tuning_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stoker/base/units.h"

namespace stoker {
namespace {

// format_count() and format_duration() are for less.
constexpr double kHuge = 1e15;
constexpr double kDayS = 86400;

}  // namespace

double rate_of(const TunerWindow& window) {
  const double rate = static_cast<double>(window.samples) / window.seconds;
  return window.seconds > 0 && window.samples >= 0 && std::isfinite(rate) ? rate
                                                                          : std::numeric_limits<double>::quiet_NaN();
}

double wait_share_of(const TunerWindow& window) {
  const double share = window.wait_s / window.seconds;
  return window.seconds > 0 && share >= 0 && std::isfinite(share) ? std::min(share, 1.0)
                                                                  : std::numeric_limits<double>::quiet_NaN();
}

std::string number_text(double value) {
  if (!std::isfinite(value)) return kUnknown;
  if (value < 0) return "−" + number_text(-value);
  if (value >= kHuge) return fmt::format("{:.2e}", value);
  if (value >= 99.95) return format_count(static_cast<std::uint64_t>(std::llround(value)));
  if (value >= 9.995) return fmt::format("{:.1f}", value);
  return fmt::format("{:.3g}", value);
}

std::string count_text(std::int64_t value) {
  return value < 0 ? fmt::format("−{}", -value) : format_count(static_cast<std::uint64_t>(value));
}

std::string share_text(double share) {
  if (!std::isfinite(share)) return kUnknown;
  return fmt::format("{:.{}f}%", 100 * share, std::abs(share) < 0.0995 ? 1 : 0);
}

std::string time_text(double seconds) {
  if (!std::isfinite(seconds)) return kUnknown;
  if (seconds < 0) return "−" + time_text(-seconds);
  if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
  if (seconds >= kHuge) return fmt::format("{:.2e} s", seconds);
  if (seconds < kDayS) return format_duration(seconds);
  const auto hours = static_cast<std::int64_t>(seconds / 3600);
  return fmt::format("{} d {:02} h", hours / 24, hours % 24);
}

std::string knobs_text(const KnobSetting& knobs, bool has_device) {
  return fmt::format("{}{}, prefetch {}, I/O depth {}", counted(knobs.threads, "thread"),
                     has_device ? fmt::format(" at index {}", knobs.transfer_index) : "", knobs.prefetch,
                     knobs.io_depth);
}

}  // namespace stoker
