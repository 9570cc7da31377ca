// Ends a test program that hangs, and names the place; a test that waits forever cannot do that itself.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "stoker/base/rounds_testing.h"

namespace stoker {

/// During its lifetime, a round of the running test that takes far too long aborts the program, with a sentence that
/// names the test and the round.
class Watchdog {
 public:
  /// Rounds take milliseconds; a machine that is busy with other things and a sanitizer may stretch them.
  static constexpr std::chrono::seconds kRoundMax{kSanitized ? 120 : 60};

  explicit Watchdog(std::chrono::milliseconds round_max = kRoundMax);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Begins another round, which gets the same time.
  void begin(std::string round);

 private:
  void watch();

  const std::chrono::milliseconds round_max_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string test_, round_;
  int rounds_ = 0;
  bool over_ = false;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace stoker
