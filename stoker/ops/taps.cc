#include "stoker/ops/taps.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <span>

namespace stoker {
namespace {

constexpr std::int32_t kWeightOne = std::int32_t{1} << kTapBits;

// Filters as functions of the distance in source columns (target columns when shrinking), and how far they reach.
struct BoxFilter {
  static constexpr double kSupport = 0.5;
  static double weight(double x) { return x > -0.5 && x <= 0.5 ? 1.0 : 0.0; }
};

struct BilinearFilter {
  static constexpr double kSupport = 1.0;
  static double weight(double x) {
    x = std::abs(x);
    return x < 1.0 ? 1.0 - x : 0.0;
  }
};

struct BicubicFilter {
  static constexpr double kSupport = 2.0;
  static constexpr double kA = -0.5;
  static double weight(double x) {
    x = std::abs(x);
    if (x < 1.0) return ((kA + 2.0) * x - (kA + 3.0)) * x * x + 1;
    if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * kA;
    return 0.0;
  }
};

std::size_t output_of(const AxisMap& axis, int column) {
  const int offset = column - axis.window_begin;
  return static_cast<std::size_t>(axis.flip ? axis.length - 1 - offset : offset);
}

void clear(const AxisMap& axis, int taps_max, AxisTaps& taps) {
  const auto outputs = static_cast<std::size_t>(axis.length);
  taps.outputs = axis.length;
  taps.taps_max = taps_max;
  taps.identity = false;
  taps.first.assign(outputs, -1);
  taps.count.assign(outputs, 0);
  taps.weights.assign(outputs * static_cast<std::size_t>(taps_max), 0);
  taps.source_begin = taps.source_end = 0;
}

void set_single(AxisTaps& taps, std::size_t output, int source_column) {
  taps.first[output] = source_column;
  taps.count[output] = 1;
  taps.weights[output] = kWeightOne;
}

void note_source_range(AxisTaps& taps) {
  bool any = false;
  for (std::size_t o = 0; o < taps.first.size(); ++o) {
    if (taps.count[o] == 0) continue;
    const int begin = taps.first[o], end = begin + taps.count[o];
    taps.source_begin = any ? std::min(taps.source_begin, begin) : begin;
    taps.source_end = any ? std::max(taps.source_end, end) : end;
    any = true;
  }
}

// A resampling that moves whole columns: every filter comes to weight 1 at one column.
bool is_copy(const AxisMap& axis) {
  if (!axis.resampled) return true;
  const double begin = axis.box_begin;
  return axis.box_length == axis.target && begin == std::floor(begin) && begin >= 0 &&
         begin + axis.target <= axis.clamp_end - axis.clamp_begin;
}

void copy_taps(const AxisMap& axis, AxisTaps& taps) {
  clear(axis, 1, taps);
  const int origin = axis.clamp_begin + (axis.resampled ? static_cast<int>(axis.box_begin) : 0);
  const int image_begin = axis.image_begin(), image_end = axis.image_end();
  taps.identity = true;
  if (image_begin == image_end) return;
  // What is shown stands side by side, in this order or the other.
  const auto [begin, last] = std::minmax({output_of(axis, image_begin), output_of(axis, image_end - 1)});
  const auto part_of = [begin = begin, end = last + 1](auto& values) {
    return std::span(values).subspan(begin, end - begin);
  };
  const auto count = part_of(taps.count), weights = part_of(taps.weights), first = part_of(taps.first);
  std::fill(count.begin(), count.end(), 1);
  std::fill(weights.begin(), weights.end(), kWeightOne);
  if (axis.flip) {
    std::iota(first.rbegin(), first.rend(), origin + image_begin);
  } else {
    std::iota(first.begin(), first.end(), origin + image_begin);
  }
}

// Pillow walks the target by repeated addition and truncates; the sum's rounding errors are part of the definition.
void nearest_taps(const AxisMap& axis, AxisTaps& taps) {
  clear(axis, 1, taps);
  const int columns_max = axis.clamp_end - axis.clamp_begin - 1;
  const double step = axis.box_length / axis.target;
  double position = axis.box_begin + step * 0.5;
  for (int column = 0; column < axis.image_end(); ++column, position += step) {
    if (column < axis.image_begin()) continue;
    const int source = std::clamp(static_cast<int>(position), 0, columns_max);
    set_single(taps, output_of(axis, column), axis.clamp_begin + source);
  }
  taps.identity = true;
}

template <typename FilterType>
void filtered_taps(const AxisMap& axis, AxisTaps& taps) {
  const int source_columns = axis.clamp_end - axis.clamp_begin;
  const double scale = axis.box_length / axis.target;
  const double filter_scale = std::max(scale, 1.0);
  const double support = FilterType::kSupport * filter_scale;
  const double inverse = 1.0 / filter_scale;
  const int taps_bound = static_cast<int>(std::ceil(support)) * 2 + 1;
  clear(axis, std::min(taps_bound, source_columns), taps);

  // The real weights of one output, until their total is known; those beyond kKept are computed a second time.
  constexpr int kKept = 64;
  double kept[kKept];
  for (int column = axis.image_begin(); column < axis.image_end(); ++column) {
    const double center = axis.box_begin + (column + 0.5) * scale;
    const int first = std::clamp(static_cast<int>(center - support + 0.5), 0, source_columns - 1);
    const int end = std::clamp(static_cast<int>(center + support + 0.5), first + 1, source_columns);
    const int count = end - first;
    assert(count <= taps.taps_max);
    double total = 0.0;
    for (int k = 0; k < count; ++k) {
      const double weight = FilterType::weight((k + first - center + 0.5) * inverse);
      if (k < kKept) kept[k] = weight;
      total += weight;
    }
    const std::size_t output = output_of(axis, column);
    taps.first[output] = axis.clamp_begin + first;
    taps.count[output] = count;
    std::int32_t* weights = taps.weights.data() + output * static_cast<std::size_t>(taps.taps_max);
    for (int k = 0; k < count; ++k) {
      double weight = k < kKept ? kept[k] : FilterType::weight((k + first - center + 0.5) * inverse);
      if (total != 0.0) weight /= total;
      weights[k] = static_cast<std::int32_t>((weight < 0 ? -0.5 : 0.5) + weight * kWeightOne);
    }
  }
}

void note_step(AxisTaps& taps) {
  taps.step = 0;
  if (!taps.identity || taps.outputs == 0 || taps.first[0] < 0) return;
  const int step = taps.outputs == 1 ? 1 : taps.first[1] - taps.first[0];
  if (std::abs(step) != 1) return;
  for (std::size_t o = 1; o < taps.first.size(); ++o) {
    if (taps.first[o] < 0 || taps.first[o] - taps.first[o - 1] != step) return;
  }
  taps.step = step;
}

// What was computed for columns counted from the left, for the same columns counted from the right.
void mirror_source(const AxisMap& axis, AxisTaps& taps) {
  for (std::size_t o = 0; o < taps.first.size(); ++o) {
    if (taps.count[o] == 0) continue;
    taps.first[o] = axis.clamp_begin + axis.clamp_end - (taps.first[o] + taps.count[o]);
    const auto weights = taps.weights.begin() + static_cast<std::ptrdiff_t>(o) * taps.taps_max;
    std::reverse(weights, weights + taps.count[o]);
  }
}

}  // namespace

void build_taps(const AxisMap& axis, Filter filter, AxisTaps& taps) {
  assert(axis.clamp_end > axis.clamp_begin && axis.target > 0 && axis.length >= 0);
  if (is_copy(axis)) {
    copy_taps(axis, taps);
  } else {
    switch (filter) {
      case Filter::kNearest: nearest_taps(axis, taps); break;
      case Filter::kBox: filtered_taps<BoxFilter>(axis, taps); break;
      case Filter::kBilinear: filtered_taps<BilinearFilter>(axis, taps); break;
      case Filter::kBicubic: filtered_taps<BicubicFilter>(axis, taps); break;
    }
  }
  if (axis.source_mirrored) mirror_source(axis, taps);
  note_source_range(taps);
  note_step(taps);
}

}  // namespace stoker
