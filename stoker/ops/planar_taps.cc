#include "stoker/ops/planar_taps.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "stoker/ops/kernels/planar/planar_kernels.h"
#include "stoker/ops/planar_grid.h"

namespace stoker {
namespace {

__extension__ using Int128 = __int128;

constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

// Unnormalised weights as functions of the distance of a pixel's centre from an output's. `reach` bounds the distances
// at which they are not 0.
struct BilinearWeight {
  static std::int64_t reach(std::int64_t support) { return support; }
  template <class Int>
  static Int weight(std::int64_t distance, std::int64_t support) {
    return Int{std::max<std::int64_t>(0, support - std::abs(distance))};
  }
};

struct BoxWeight {
  static std::int64_t reach(std::int64_t support) { return support / 2 + 1; }
  template <class Int>
  static Int weight(std::int64_t distance, std::int64_t support) {
    return Int{-support < 2 * distance && 2 * distance <= support};
  }
};

// Keys' cubic with a = -1/2, times 2 * support^3.
struct BicubicWeight {
  static std::int64_t reach(std::int64_t support) { return 2 * support; }
  template <class Int>
  static Int weight(std::int64_t distance, std::int64_t support) {
    const Int d = std::abs(distance), s = support;
    if (d < s) return (3 * d - 5 * s) * d * d + 2 * s * s * s;
    if (d < 2 * s) return ((5 * s - d) * d - 8 * s * s) * d + 4 * s * s * s;
    return 0;
  }
};

// floor(a / b) for b > 0 and quotients of fewer than 20 bits: what the estimate misses is less than one.
template <class Int>
std::int32_t floor_of_quotient(Int a, Int b) {
  const auto estimate = static_cast<std::int32_t>(std::floor(static_cast<double>(a) / static_cast<double>(b)));
  const Int rest = a - Int{estimate} * b;
  return estimate + (rest >= b ? 1 : 0) - (rest < 0 ? 1 : 0);
}

// The weights of the plane's samples around one output, while pixels are met in ascending order.
template <class Int>
struct Composed {
  Int* weights;            // of samples first .. end - 1
  int first = 0, end = 0;  // equal: none yet

  void add(int sample, Int weight) {
    if (first == end) first = end = sample;
    assert(sample >= first);
    for (; end <= sample; ++end) weights[end - first] = 0;
    weights[sample - first] += weight;
  }

  void add_pixel(int pixel, Int weight, const PlanarGrid& grid) {
    if (weight == 0) return;
    const int sample = pixel / grid.factor;
    if (!grid.halved) return add(sample, weight);
    const int neighbour = std::clamp(pixel % 2 ? sample + 1 : sample - 1, 0, grid.whole_length - 1);
    add(std::min(sample, neighbour), sample < neighbour ? 3 * weight : weight);
    add(std::max(sample, neighbour), sample < neighbour ? weight : 3 * weight);
  }
};

void reserve_taps(int taps_bound, PlanarAxisTaps& taps) {
  taps.taps = taps_bound;
  taps.weight.resize(static_cast<std::size_t>(taps_bound) * taps.stride);
}

// Drops the last taps while all outputs have them at 0.
void drop_unused(PlanarAxisTaps& taps) {
  while (taps.taps > 1) {
    const auto last = taps.weight.begin() + static_cast<std::ptrdiff_t>(taps.stride) * (taps.taps - 1);
    if (std::any_of(last, last + taps.outputs, [](std::int16_t weight) { return weight != 0; })) return;
    --taps.taps;
  }
}

// The outputs beyond the last, which fill up its group, repeat it.
void repeat_last(PlanarAxisTaps& taps) {
  const auto last = static_cast<std::size_t>(taps.outputs) - 1;
  for (std::size_t o = last + 1; o < taps.stride; ++o) {
    taps.first[o] = taps.first[last];
    for (std::size_t k = 0; k < static_cast<std::size_t>(taps.taps); ++k)
      taps.weight[k * taps.stride + o] = taps.weight[k * taps.stride + last];
  }
}

template <class Int, class Weight>
void filtered_taps(const PlanarGrid& grid, PlanarAxisTaps& taps) {
  const std::int64_t reach = Weight::reach(grid.support), width = 2 * grid.half_pixel;
  const auto pixels_bound = static_cast<int>(std::min<std::int64_t>(2 * reach / width + 2, grid.pixels));
  const int taps_bound = std::min(pixels_bound / grid.factor + 3, grid.whole_length);
  reserve_taps(taps_bound, taps);
  auto* sums = taps.sums.array<Int>(static_cast<std::size_t>(taps_bound));
  const auto pixel_at = [&](std::int64_t position) {
    return static_cast<int>(std::clamp<std::int64_t>(floor_div(position, width), 0, grid.pixels - 1));
  };
  for (int output = 0; output < taps.outputs; ++output) {
    const std::int64_t center = grid.center_of_column(grid.first_column + output * grid.column_step);
    const int last = pixel_at(center + reach - grid.half_pixel);
    Composed<Int> composed{sums};
    for (int x = pixel_at(center - reach + grid.half_pixel); x <= last; ++x) {
      const Int weight = Weight::template weight<Int>(grid.center_of_pixel(x) - center, grid.support);
      composed.add_pixel(grid.origin + x, weight, grid);
    }
    const int count = composed.end - composed.first;
    assert(count > 0 && count <= taps_bound);
    Int total = 0;
    for (int k = 0; k < count; ++k) total += sums[k];
    Int sum = total >> 1;
    std::int32_t before = 0;
    std::int16_t* weights = taps.weight.data() + output;
    taps.first[static_cast<std::size_t>(output)] = composed.first;
    for (int k = 0; k < taps_bound; ++k, weights += taps.stride) {
      *weights = 0;
      if (k >= count) continue;
      sum += sums[k] * (Int{1} << taps.bits);
      const std::int32_t upto = floor_of_quotient<Int>(sum, total);
      *weights = static_cast<std::int16_t>(upto - before);
      before = upto;
    }
  }
}

void nearest_taps(const PlanarGrid& grid, PlanarAxisTaps& taps) {
  const std::int32_t one = std::int32_t{1} << taps.bits;
  reserve_taps(grid.halved ? 2 : 1, taps);
  for (int output = 0; output < taps.outputs; ++output) {
    const auto at = static_cast<std::size_t>(output);
    const std::int64_t center = grid.center_of_column(grid.first_column + output * grid.column_step);
    const int pixel = grid.origin + static_cast<int>(center / (2 * grid.half_pixel));
    const int sample = pixel / grid.factor;
    taps.first[at] = sample;
    taps.weight[at] = static_cast<std::int16_t>(one);
    if (!grid.halved) continue;
    taps.weight[taps.stride + at] = 0;
    const int neighbour = std::clamp(pixel % 2 ? sample + 1 : sample - 1, 0, grid.whole_length - 1);
    if (neighbour == sample) continue;
    taps.first[at] = std::min(sample, neighbour);
    taps.weight[at] = static_cast<std::int16_t>(sample < neighbour ? 3 * one / 4 : one / 4);
    taps.weight[taps.stride + at] = static_cast<std::int16_t>(one - taps.weight[at]);
  }
}

// A single weight of 256 does not fit the kernels' bytes, which hold it as 255 + 1 on one sample: it comes first.
void put_single_weights_first(PlanarAxisTaps& taps) {
  constexpr std::int16_t kOne = 1 << kPlanarBits;
  for (int k = 1; k < taps.taps; ++k) {
    std::int16_t* weights = taps.weight.data() + static_cast<std::size_t>(k) * taps.stride;
    for (std::size_t o = 0; o < static_cast<std::size_t>(taps.outputs); ++o) {
      if (weights[o] != kOne) continue;
      weights[o] = 0;
      taps.weight[o] = kOne;
      taps.first[o] += k;
    }
  }
}

void note_source(PlanarAxisTaps& taps) {
  int begin = std::numeric_limits<int>::max(), end = 0;
  for (int o = 0; o < taps.outputs; ++o) begin = std::min(begin, taps.first[static_cast<std::size_t>(o)]);
  for (int k = 0; k < taps.taps; ++k) {
    const std::int16_t* weights = taps.weight.data() + static_cast<std::size_t>(k) * taps.stride;
    for (std::size_t o = 0; o < static_cast<std::size_t>(taps.outputs); ++o) {
      end = std::max(end, weights[o] != 0 ? taps.first[o] + k + 1 : 0);
    }
  }
  taps.source_begin = begin;
  taps.source_end = end;
}

// Whether 32 bits hold every position, and four times the sum of weights, with room for a factor of 2.
bool fits_32_bits(const PlanarGrid& grid) {
  constexpr std::int64_t kMost = std::int64_t{1} << 29;
  const std::int64_t pixels = grid.support / grid.half_pixel + 1;
  return 2 * grid.half_pixel * (grid.pixels + std::int64_t{1}) + grid.support < kMost &&
         4 * pixels * grid.support < kMost;
}

// Returns whether all is done.
bool bilinear_taps(const PlanarGrid& grid, PlanarAxisTaps& taps) {
  const std::int64_t pixels = (grid.support + grid.half_pixel - 1) / grid.half_pixel;
  if ((grid.factor > 1 && !grid.halved) || taps.bits != kPlanarBits || pixels > kPlanarBilinearTapsMax ||
      !fits_32_bits(grid)) {
    filtered_taps<std::int64_t, BilinearWeight>(grid, taps);
    return false;
  }
  reserve_taps(static_cast<int>(grid.halved ? (pixels + 2) / 2 + 1 : pixels), taps);
  PlanarBilinear job{&grid, taps.stride, taps.first.data(), taps.weight.data()};
  planar_kernels().bilinear(job);
  taps.taps = job.taps;
  taps.source_begin = job.source_begin;
  taps.source_end = job.source_end;
  return true;
}

void cubic_taps(const PlanarGrid& grid, PlanarAxisTaps& taps) {
  // A pixel's weight is at most 2 support^3; up to 34 of them are summed, times 4 by upsampling and 2^14 by rounding.
  if (grid.support < 1 << 13 && grid.support < 16 * grid.half_pixel) {
    filtered_taps<std::int64_t, BicubicWeight>(grid, taps);
  } else {
    filtered_taps<Int128, BicubicWeight>(grid, taps);
  }
}

}  // namespace

void build_planar_taps(const AxisMap& axis, Filter filter, int factor, int whole_length, bool smooth, int bits,
                       PlanarAxisTaps& taps) {
  const PlanarGrid grid(axis, factor, whole_length, smooth);
  taps.length = axis.length;
  taps.bits = bits;
  taps.begin = grid.first_shown;
  taps.outputs = grid.shown;
  taps.stride = static_cast<std::size_t>((taps.outputs + PlanarAxisTaps::kGroup - 1) / PlanarAxisTaps::kGroup) *
                PlanarAxisTaps::kGroup;
  taps.first.resize(taps.stride);
  if (taps.outputs == 0) {
    taps.taps = taps.source_begin = taps.source_end = 0;
    return;
  }
  switch (axis.resampled ? filter : Filter::kBilinear) {
    case Filter::kNearest: nearest_taps(grid, taps); break;
    case Filter::kBox: filtered_taps<std::int64_t, BoxWeight>(grid, taps); break;
    case Filter::kBilinear:
      if (bilinear_taps(grid, taps)) return;
      break;
    case Filter::kBicubic: cubic_taps(grid, taps); break;
  }
  if (bits == kPlanarBits) put_single_weights_first(taps);
  drop_unused(taps);
  repeat_last(taps);
  note_source(taps);
}

void PlanarTaps::build(const SamplingMap& map, const Planes& planes) {
  assert(planes.count == 1 || planes.count == 3);
  const bool cubic = map.filter == Filter::kBicubic && (map.x.resampled || map.y.resampled);
  const int bits = cubic ? kPlanarCubicBits : kPlanarBits;
  for (std::size_t i = 0; i < static_cast<std::size_t>(planes.count); ++i) {
    const Plane& plane = planes.plane[i];
    same_x_[i] = same_y_[i] = i;
    for (std::size_t j = i; j-- > 0;) {
      const Plane& other = planes.plane[j];
      if (plane.across == other.across && plane.whole_width == other.whole_width) same_x_[i] = j;
      if (plane.down == other.down && plane.whole_height == other.whole_height) same_y_[i] = j;
    }
    if (same_x_[i] == i)
      build_planar_taps(map.x, map.filter, plane.across, plane.whole_width, plane.smooth, bits, x_[i]);
    if (same_y_[i] == i)
      build_planar_taps(map.y, map.filter, plane.down, plane.whole_height, plane.smooth, bits, y_[i]);
  }
  const bool padded = map.x.shows_padding() || map.y.shows_padding();
  channels_ = padded ? 3 : planes.count;
  if (padded) fill_ = ycc_from_rgb(map.fill);
}

Rect PlanarTaps::source(int plane) const {
  const PlanarAxisTaps &across = x(plane), &down = y(plane);
  if (across.outputs == 0 || down.outputs == 0) return {};
  return {across.source_begin, down.source_begin, across.source_end - across.source_begin,
          down.source_end - down.source_begin};
}

std::array<std::uint8_t, 3> ycc_from_rgb(const std::array<std::uint8_t, 3>& rgb) {
  const int red = rgb[0], green = rgb[1], blue = rgb[2];
  const auto rounded = [](int value, int unit) {
    return static_cast<std::uint8_t>(std::clamp<std::int64_t>(floor_div(2 * value + unit, 2 * unit), 0, 255));
  };
  return {rounded(299 * red + 587 * green + 114 * blue, 1000),
          rounded(-299 * red - 587 * green + 886 * blue + 128 * 1772, 1772),
          rounded(701 * red - 587 * green - 114 * blue + 128 * 1402, 1402)};
}

}  // namespace stoker
