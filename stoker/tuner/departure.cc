#include "stoker/tuner/departure.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace stoker {
namespace {

constexpr double kDepartureLeast = 0.1;  // a smaller change is found, and looked into, once the knobs stay
constexpr double kDepartureSpreads = 5;
constexpr double kCarriedMost = 0.7;  // of a window, that the setting before may have, and
constexpr double kFirstOff = 0.2;     // how far such a window may be off beyond that

struct Part {
  double WindowReading::*value;
  double unit;  // -1 for what is seconds only when turned over
  std::string_view what;
};
// What is said first explains what is said later.
constexpr Part kParts[] = {{&WindowReading::step_log, 1, "the training's own steps take another time"},
                           {&WindowReading::cpu_log, 1, "a sample costs the CPU something else"},
                           {&WindowReading::device_log, 1, "a sample costs the device something else"},
                           {&WindowReading::rate_log, -1, "the rate is another"}};

// Between what a setting may have by itself.
struct Range {
  double low, high;
};

Range range_of(const Trial::Window& window, const Part& part) {
  const double seen = window.reading.*part.value;
  if (!window.left) return {seen, seen};
  // If a part of the window is the setting's before, the rest is as much farther from that.
  const double took = std::exp(part.unit * seen), left = std::exp(part.unit * *window.left.*part.value);
  const double own = part.unit * std::log(std::max((took - kCarriedMost * left) / (1 - kCarriedMost), kNoSeconds));
  return {std::min(seen, own) - kFirstOff, std::max(seen, own) + kFirstOff};
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
  const double least = std::max(kDepartureLeast, kDepartureSpreads * spread);
  for (const Part& part : kParts) {
    if (trial.windows.back().reading.*part.value < std::log(2 * kNoSeconds)) continue;  // of a side that does nothing
    Range was = range_of(trial.windows.front(), part);
    for (auto window = trial.windows.begin(); window != before; ++window) {
      const Range range = range_of(*window, part);
      was = {std::min(was.low, range.low), std::max(was.high, range.high)};
    }
    double off = gap(was, range_of(*now, part));
    for (auto window = now + 1; window != end; ++window) off = common(off, gap(was, range_of(*window, part)));
    if (std::abs(off) > least) return Departure{part.what, off};
  }
  return std::nullopt;
}

}  // namespace stoker
