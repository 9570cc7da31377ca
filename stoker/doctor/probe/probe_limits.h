// What ends a probe: its time, and the user.
#pragma once

#include <stop_token>

namespace stoker {

struct ProbeLimits {
  bool quick = false;
  std::stop_token stop{};

  /// One of two amounts of work.
  template <typename Value>
  Value pick(Value full, Value when_quick) const {
    return quick ? when_quick : full;
  }

  /// Throws kClosed once the user wants no more.
  void check() const;
};

}  // namespace stoker
