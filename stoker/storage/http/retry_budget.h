// Bounds how often requests are repeated, so that a store in trouble gets no more to do: a bucket of repetitions, which
// every request fills a little and every repetition empties.
#pragma once

#include <algorithm>

namespace stoker {

/// Threads: one at a time.
class RetryBudget {
 public:
  RetryBudget(double share, double most) : share_(share), most_(most), left_(most) {}

  void request_made() { left_ = std::min(left_ + share_, most_); }
  /// Whether there is one more.
  bool take() {
    if (left_ < 1) return false;
    left_ -= 1;
    return true;
  }

 private:
  double share_, most_, left_;
};

}  // namespace stoker
