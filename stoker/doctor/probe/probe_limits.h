// What ends a probe: its time, and the user.
#pragma once

#include <cstdint>
#include <stop_token>

namespace stoker {

struct ProbeLimits {
  bool quick = false;
  double time_share = 1;  // of the time that each measurement takes: less in tests, which need no good figures
  std::stop_token stop{};

  /// One of two amounts of work.
  template <typename Value>
  Value pick(Value full, Value when_quick) const {
    return quick ? when_quick : full;
  }

  /// Of a measurement.
  double seconds(double full, double when_quick) const { return pick(full, when_quick) * time_share; }
  std::int64_t ns(double full_s, double when_quick_s) const {
    return static_cast<std::int64_t>(seconds(full_s, when_quick_s) * 1e9);
  }

  /// Throws kClosed once the user wants no more.
  void check() const;
};

}  // namespace stoker
