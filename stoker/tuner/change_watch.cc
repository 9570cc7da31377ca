#include "stoker/tuner/change_watch.h"

#include <algorithm>
#include <cmath>

namespace stoker {
namespace {

constexpr double kSlack = 0.75;   // spreads that a window may lie off for nothing
constexpr double kClip = 4;       // a window counts for no more than that many
constexpr double kFull = 9;       // at three windows far off, or many a little
constexpr double kRecent = 0.3;   // the share of the last window in what is thought of the last few
constexpr double kFollow = 0.03;  // part of each difference that is taken for slow drift

}  // namespace

void ChangeWatch::begin(double value, int windows, double spread) {
  *this = {};
  level_ = last_ = value;
  windows_ = windows;
  spread_ = first_spread_ = spread;
}

bool ChangeWatch::see(double value, double least) {
  const double off = value - level_;
  const double spreads = std::clamp(off / spread_, -kClip, kClip);
  above_ = std::max(0.0, above_ + spreads - kSlack);
  below_ = std::max(0.0, below_ - spreads - kSlack);
  recent_ += kRecent * (off - recent_);
  // The first windows refine the expected value, and the spread: from each window to the next, so that drift does not
  // count.
  level_ += std::max(kFollow, 1.0 / ++windows_) * spreads * spread_;
  const double step = std::min(std::abs(value - last_), kClip * spread_);
  spread_ = std::sqrt(std::max(spread_ * spread_ + kFollow * (0.5 * step * step - spread_ * spread_),
                               0.25 * first_spread_ * first_spread_));
  last_ = value;
  return (above_ > kFull && recent_ > least) || (below_ > kFull && recent_ < -least);
}

}  // namespace stoker
