// Watches what should stay as it is, and says when it no longer does: a cumulative sum of how far windows lie off,
// which a lasting change of little soon fills and noise, or one strange window, does not.
#pragma once

namespace stoker {

class ChangeWatch {
 public:
  /// Begins anew, with `value`, the mean of some windows, as what it is, and windows differing by `spread` as a
  /// standard deviation.
  void begin(double value, int windows, double spread);
  /// True once what was seen cannot be noise. `least` is the smallest change that matters.
  bool see(double value, double least);
  /// By how much it is more or less than it was, about, once that was seen.
  double change() const { return recent_; }

 private:
  double level_ = 0, spread_ = 1, first_spread_ = 1;
  int windows_ = 0;
  double last_ = 0;
  double above_ = 0, below_ = 0;  // sums, in spreads
  double recent_ = 0;             // by how much the last windows were off
};

}  // namespace stoker
