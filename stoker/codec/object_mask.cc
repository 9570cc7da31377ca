// The rule by which an outline becomes pixels is that of pycocotools, whose masks are those that detectors are trained
// and evaluated with. Each side is walked on a lattice of fifths of a pixel, in whole steps of its longer direction.
// Where it crosses the middle of a column, the upper one of the two lattice points beside it says from which pixel on
// the column changes between outside and inside.
#include "stoker/codec/object_mask.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "stoker/base/error.h"

namespace stoker {
namespace {

constexpr int kParts = 5;   // of a pixel
constexpr int kMiddle = 2;  // the last part before the middle

constexpr int ceil_div(int value, int by) { return value >= 0 ? (value + by - 1) / by : -(-value / by); }
constexpr int floor_div(int value, int by) { return -ceil_div(-value, by); }

/// A side of an outline, from left to right if it is wide, else from top to bottom.
class Side {
 public:
  Side(int from_x, int from_y, int to_x, int to_y)
      : x_(from_x),
        y_(from_y),
        steps_(std::max(std::abs(to_x - from_x), std::abs(to_y - from_y))),
        wide_(std::abs(to_x - from_x) >= std::abs(to_y - from_y)),
        rises_(to_x > from_x),
        slope_(static_cast<double>(wide_ ? to_y - from_y : to_x - from_x) / steps_) {}

  /// The upper row of the two points between which it goes from lattice column `column` to the next, or back.
  int row_beside(int column) const {
    if (wide_) return std::min(across(column - x_, y_), across(column + 1 - x_, y_));
    return y_ + first_step_beyond(column) - 1;
  }

 private:
  int across(int step, int begin) const { return static_cast<int>(begin + slope_ * step + 0.5); }
  bool is_beyond(int step, int column) const { return (across(step, x_) > column) == rises_; }

  /// Of a side that is not wide: where it has just crossed.
  int first_step_beyond(int column) const {
    int step = std::clamp(static_cast<int>((column + 0.5 - x_) / slope_), 1, steps_);
    while (step > 1 && is_beyond(step - 1, column)) --step;
    while (step < steps_ && !is_beyond(step, column)) ++step;
    return step;
  }

  int x_, y_, steps_;
  bool wide_, rises_;
  double slope_;
};

}  // namespace

void ObjectMask::start(int width, int height) {
  assert(width > 0 && height > 0);
  width_ = width;
  height_ = height;
  crossings_so_far_ = 0;
  runs_.clear();
}

ObjectMask::Corner ObjectMask::corner(double x, double y) {
  if (!(std::abs(x) <= kPlaceMax && std::abs(y) <= kPlaceMax)) {
    fail(ErrorKind::kBadSample, "a corner of an object's outline is not a place near the image");
  }
  return {static_cast<int>(kParts * x + 0.5), static_cast<int>(kParts * y + 0.5)};
}

void ObjectMask::add_outline(std::span<const double> corners) {
  if (corners.size() % 2 != 0) fail(ErrorKind::kBadSample, "an object's outline has a corner without y");
  if (corners.size() < 6) return;
  crossings_.clear();
  Corner from = corner(corners[corners.size() - 2], corners[corners.size() - 1]);
  for (std::size_t i = 0; i < corners.size(); i += 2) {
    const Corner to = corner(corners[i], corners[i + 1]);
    cross(from, to);
    from = to;
  }
  crossings_so_far_ += crossings_.size();
  std::sort(crossings_.begin(), crossings_.end(), [](const Crossing& a, const Crossing& b) {
    return a.column != b.column ? a.column < b.column : a.row < b.row;
  });
  // A closed line crosses each column an even number of times.
  for (std::size_t i = 0; i + 1 < crossings_.size(); i += 2) {
    assert(crossings_[i].column == crossings_[i + 1].column);
    if (crossings_[i].row < crossings_[i + 1].row) {
      runs_.push_back({crossings_[i].column, crossings_[i].row, crossings_[i + 1].row});
    }
  }
}

void ObjectMask::cross(Corner from, Corner to) {
  const bool wide = std::abs(to.x - from.x) >= std::abs(to.y - from.y);
  if (wide ? from.x > to.x : from.y > to.y) std::swap(from, to);
  const auto [left, right] = std::minmax(from.x, to.x);
  const int first = std::max(0, ceil_div(left - kMiddle, kParts));
  const int last = std::min(width_ - 1, floor_div(right - 1 - kMiddle, kParts));
  if (first > last) return;
  const auto columns = static_cast<std::size_t>(last - first) + 1;
  if (crossings_so_far_ + crossings_.size() + columns > kCrossingsMax) {
    fail(ErrorKind::kBadSample, "an object's outline is too long: it crosses columns more than {} times",
         kCrossingsMax);
  }
  count_of_sample(columns);
  const Side side(from.x, from.y, to.x, to.y);
  for (int column = first; column <= last; ++column) {
    const int row = ceil_div(side.row_beside(kParts * column + kMiddle) - kMiddle, kParts);
    crossings_.push_back({column, std::clamp(row, 0, height_)});
  }
}

void ObjectMask::count_of_sample(std::size_t crossings) {
  if ((crossings_of_sample_ += crossings) <= kCrossingsOfSampleMax) return;
  fail(ErrorKind::kBadSample,
       "the outlines and runs of its objects are too long: they cross columns more than {} times",
       kCrossingsOfSampleMax);
}

void ObjectMask::add_runs(std::span<const std::int64_t> lengths) {
  const std::int64_t pixels = std::int64_t{width_} * height_;
  std::int64_t at = 0;
  bool covered = false;
  for (const std::int64_t length : lengths) {
    if (length < 0 || length > pixels - at) {
      fail(ErrorKind::kBadSample, "the runs of an object's mask do not fit into {} x {} pixels", width_, height_);
    }
    if (covered) add_rows(at, at + length);
    at += length;
    covered = !covered;
  }
  if (at != pixels) {
    fail(ErrorKind::kBadSample, "the runs of an object's mask are {} pixels, and the image has {} x {}", at, width_,
         height_);
  }
}

/// Of pixels counted down the columns.
void ObjectMask::add_rows(std::int64_t begin, std::int64_t end) {
  while (begin < end) {
    count_of_sample(1);
    const auto column = static_cast<std::int32_t>(begin / height_);
    const std::int64_t row = begin % height_, stop = std::min<std::int64_t>(height_, row + end - begin);
    runs_.push_back({column, static_cast<std::int32_t>(row), static_cast<std::int32_t>(stop)});
    begin += stop - row;
  }
}

void ObjectMask::finish() {
  put_in_order();
  std::size_t kept = 0;
  for (const Run& run : runs_) {
    Run* const before = kept > 0 ? &runs_[kept - 1] : nullptr;
    if (before && before->column == run.column && run.begin <= before->end) {
      before->end = std::max(before->end, run.end);
    } else {
      runs_[kept++] = run;
    }
  }
  runs_.resize(kept);
  first_.assign(static_cast<std::size_t>(width_) + 1, 0);
  for (const Run& run : runs_) ++first_[static_cast<std::size_t>(run.column) + 1];
  for (std::size_t x = 1; x < first_.size(); ++x) first_[x] += first_[x - 1];
}

void ObjectMask::put_in_order() {
  const auto comes_before = [](const Run& a, const Run& b) {
    return a.column != b.column ? a.column < b.column : a.begin < b.begin;
  };
  if (!std::is_sorted(runs_.begin(), runs_.end(), comes_before)) std::sort(runs_.begin(), runs_.end(), comes_before);
}

// Digits of five bits in the characters from '0' on, the lowest first; the sixth bit says that another one follows, and
// the fifth of the last one is the sign. From the fourth length on, what is written is the difference from the one
// before the last.
std::vector<std::int64_t> decode_runs(std::string_view text) {
  constexpr int kBits = 5, kBitsMax = 35;
  constexpr std::int64_t kLengthMax = std::int64_t{1} << 32;
  const auto refuse = [] { fail(ErrorKind::kBadSample, "the coded runs of an object's mask are damaged"); };
  std::vector<std::int64_t> lengths;
  std::int64_t number = 0;
  int bits = 0;
  for (const char c : text) {
    const int digit = c - '0';
    if (digit < 0 || digit > 63 || bits == kBitsMax) refuse();
    number |= std::int64_t{digit & 31} << bits;
    bits += kBits;
    if (digit & 32) continue;
    if (digit & 16) number -= std::int64_t{1} << bits;
    if (lengths.size() > 2) number += lengths[lengths.size() - 2];
    if (number < 0 || number > kLengthMax) refuse();
    lengths.push_back(number);
    number = 0;
    bits = 0;
  }
  if (bits != 0) refuse();
  return lengths;
}

}  // namespace stoker
