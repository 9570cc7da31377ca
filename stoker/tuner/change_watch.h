// Detects a change of a value that should be constant: a cumulative sum of windows' deviations, which a small lasting
// change soon fills, but noise or one strange window does not.
#pragma once

namespace stoker {

class ChangeWatch {
 public:
  /// Restarts with `value`, the mean of some windows, as the expected value, and `spread` as the standard deviation of
  /// windows.
  void begin(double value, int windows, double spread);
  /// True when the deviations cannot be noise. `least` is the smallest change that matters.
  bool see(double value, double least);
  /// The approximate size of the change, after it was detected.
  double change() const { return recent_; }

 private:
  double level_ = 0, spread_ = 1, first_spread_ = 1;
  int windows_ = 0;
  double last_ = 0;
  double above_ = 0, below_ = 0;  // sums, in spreads
  double recent_ = 0;             // mean deviation of the last windows
};

}  // namespace stoker
