#include "stoker/tuner/departure.h"

#include <algorithm>
#include <cmath>

namespace stoker {
namespace {

constexpr double kDepartureLeast = 0.1;  // a smaller change is found, and looked into, once the knobs stay
constexpr double kDepartureSpreads = 5;
constexpr double kFirstOff = 0.2;  // how far a first window may be off beyond what the setting before explains

// Between what a setting may have by itself.
struct Range {
  double low, high;

  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

Range range_of(const Trial::Window& window, double WindowReading::*part) {
  const double seen = window.reading.*part;
  Range range{seen, seen};
  if (!window.left) return range;
  range.include(own_reading(window.reading, *window.left).*part);
  if (window.left_own) range.include(own_reading(window.reading, *window.left_own).*part);
  return {range.low - kFirstOff, range.high + kFirstOff};
}

// From one to the other; 0 where they meet.
double gap(const Range& from, const Range& to) {
  return std::max(0.0, to.low - from.high) + std::min(0.0, to.high - from.low);
}

// What both are off.
double common(double a, double b) { return a * b <= 0 ? 0 : std::abs(a) < std::abs(b) ? a : b; }

}  // namespace

std::optional<Departure> departure(const Trial& trial, double spread, int windows) {
  const auto end = trial.windows.end(), now = end - std::min(windows, trial.count());
  const auto moved = [](const Trial::Window& window) { return window.before.has_value(); };
  if (now == trial.windows.begin() || std::any_of(now + 1, end, moved))
    return std::nullopt;  // too few, or not in a row
  // The first window of this very row differs from the others by what was carried over into it.
  const auto before = moved(*(now - 1)) && !moved(*now) ? now - 1 : now;
  if (before == trial.windows.begin()) return std::nullopt;
  // First windows say little, and count only where there are no others.
  const bool some_alone = !std::all_of(trial.windows.begin(), before, moved);
  const double least = std::max(kDepartureLeast, kDepartureSpreads * spread);
  std::optional<Departure> first;
  for (const WatchedPart& part : kWatchedParts) {
    if (trial.windows.back().reading.*part.value < std::log(2 * kNoSeconds)) continue;  // of a side that does nothing
    std::optional<Range> was;
    for (auto window = trial.windows.begin(); window != before; ++window) {
      if (some_alone && moved(*window)) continue;
      const Range range = range_of(*window, part.value);
      was = was ? Range{std::min(was->low, range.low), std::max(was->high, range.high)} : range;
    }
    double off = gap(*was, range_of(*now, part.value));
    for (auto window = now + 1; window != end; ++window) off = common(off, gap(*was, range_of(*window, part.value)));
    if (std::abs(off) <= least) continue;
    if (!first) first = Departure{part.what, off};
    if (!part.explains_only) return first;
  }
  return std::nullopt;
}

}  // namespace stoker
