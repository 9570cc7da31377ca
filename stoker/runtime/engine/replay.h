// Gives the consumer a finished batch again and again, as if the next ones were there at once: what a step takes then
// is the step alone. Such batches are extra: they are no part of an epoch. The consumer's thread only.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/runtime/loader.h"

namespace stoker {

class Replay {
 public:
  static constexpr int kStepsMin = 4;

  /// The batch that is delivered next is given so many times more. Throws kUsage for fewer than kStepsMin.
  void ask(int steps);
  /// The batch is not given any more; what was asked for, and has not begun, is still to come.
  void stop();

  /// The consumer gets this one.
  void delivered(const BatchPtr& batch);
  /// Whether there is a batch to be given again, or the last one's step has yet to be seen.
  bool running() const { return batch_ != nullptr; }
  /// The batch, when the consumer asks for one; null after the last step, which has ended by that.
  BatchPtr again(std::int64_t now_ns);

  /// The steps' times in seconds, without the first quarter: then the batches that are made meanwhile are complete, and
  /// nothing else is at work.
  std::vector<double> step_times() const;

 private:
  int asked_ = 0;  // steps; 0: none
  int left_ = 0;
  BatchPtr batch_;
  std::int64_t gave_ns_ = 0;  // 0: not yet
  std::vector<double> times_;
};

}  // namespace stoker
