// Where on a chart a value lies, and which values to write beside its axis: round ones, as far apart as their labels
// need.
#pragma once

#include <string>
#include <vector>

namespace stoker {

struct ChartTick {
  double value;
  std::string label;
};

/// About how wide a label is, in the size that charts write them; meant to be more rather than less.
double label_width(const std::string& label);

class ChartScale {
 public:
  /// From 0 to a round value at or above `most`, at most `ticks` steps away: 1, 2 or 5 times a power of ten.
  static ChartScale from_zero(double most, int ticks, double pixels);
  /// Whole numbers of which 0 or 1 is the least, as from_zero().
  static ChartScale counts(int most, int ticks, double pixels);
  /// From 1, by doublings, which are all as far apart.
  static ChartScale doublings(int most, int ticks, double pixels);
  /// From 0 to exactly this, with ticks that are round in seconds, minutes, hours or days and stand apart.
  static ChartScale time(double seconds, double pixels);
  /// As from_zero() to 1 at most, written in percent; to 5% at least.
  static ChartScale share(double most, int ticks, double pixels);

  /// In pixels from the scale's beginning; what lies beyond an end is drawn there.
  double at(double value) const;
  const std::vector<ChartTick>& ticks() const { return ticks_; }
  double most() const { return most_; }

 private:
  double most_ = 1, pixels_ = 1;
  bool doublings_ = false;
  std::vector<ChartTick> ticks_;
};

}  // namespace stoker
