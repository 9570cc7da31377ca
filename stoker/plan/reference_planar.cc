#include "stoker/plan/reference_planar.h"

#include <cmath>
#include <cstdlib>

#include "stoker/tensor/rounding.h"

namespace stoker {
namespace {

__extension__ using Wide = __int128;

Wide floor_quotient(Wide a, Wide b) {
  Wide quotient = a / b;
  if (quotient * b > a) quotient -= 1;
  return quotient;
}

// Step 1: the target's place in the source, in integers.
struct Place {
  Wide fractions = 1, begin = 0, length = 0;
};

Place place_of(const AxisMap& axis) {
  const int pixels = axis.clamp_end - axis.clamp_begin;
  Place place;
  if (!axis.resampled) {
    place.length = pixels;
    return place;
  }
  const double begin = axis.box_begin, end = axis.box_begin + axis.box_length;
  if (begin != std::floor(begin) || end != std::floor(end)) place.fractions = 4096;
  const auto scale = static_cast<double>(place.fractions);
  auto left = static_cast<std::int64_t>(std::floor(begin * scale + 0.5));
  auto right = static_cast<std::int64_t>(std::floor(end * scale + 0.5));
  const auto all = static_cast<std::int64_t>(pixels * place.fractions);
  if (left < 0) left = 0;
  if (left > all - 1) left = all - 1;
  if (right > all) right = all;
  if (right < left + 1) right = left + 1;
  place.begin = axis.source_mirrored ? all - right : left;
  place.length = right - left;
  return place;
}

// Step 2: the weight of pixel x, counted from the crop's edge, for a target column.
Wide pixel_weight(const AxisMap& axis, const Place& place, Filter filter, int column, int x) {
  const Wide target = axis.target, half_pixel = target * place.fractions;
  const Wide center = 2 * target * place.begin + (2 * Wide{column} + 1) * place.length;
  const Wide distance = 2 * half_pixel * x + half_pixel - center;
  const Wide support = 2 * (place.length > half_pixel ? place.length : half_pixel);
  const Wide away = distance < 0 ? -distance : distance;
  switch (filter) {
    case Filter::kNearest: return floor_quotient(center, 2 * half_pixel) == x;
    case Filter::kBox: return -support < 2 * distance && 2 * distance <= support;
    case Filter::kBilinear: return away < support ? support - away : 0;
    case Filter::kBicubic: break;
  }
  const Wide s = support, d = away;
  if (d < s) return 3 * d * d * d - 5 * d * d * s + 2 * s * s * s;
  if (d < 2 * s) return -d * d * d + 5 * d * d * s - 8 * d * s * s + 4 * s * s * s;
  return 0;
}

// Steps 2 to 4: one integer weight per sample of the plane.
std::vector<int> weights_of(const AxisMap& axis, Filter filter, int factor, int samples, bool smooth, int bits,
                            int column) {
  const Place place = place_of(axis);
  std::vector<Wide> v(static_cast<std::size_t>(samples));
  for (int x = 0; x < axis.clamp_end - axis.clamp_begin; ++x) {
    const Wide u = pixel_weight(axis, place, axis.resampled ? filter : Filter::kBilinear, column, x);
    const int pixel = axis.clamp_begin + x, sample = pixel / factor;
    if (factor == 2 && smooth) {
      int neighbour = pixel % 2 == 1 ? sample + 1 : sample - 1;
      if (neighbour < 0) neighbour = 0;
      if (neighbour > samples - 1) neighbour = samples - 1;
      v[static_cast<std::size_t>(sample)] += 3 * u;
      v[static_cast<std::size_t>(neighbour)] += u;
    } else {
      v[static_cast<std::size_t>(sample)] += u;
    }
  }
  Wide total = 0, sum = 0, before = 0;
  for (const Wide weight : v) total += weight;
  std::vector<int> weights;
  for (const Wide weight : v) {
    sum += weight;
    const Wide upto = floor_quotient((sum << bits) + (total >> 1), total);
    weights.push_back(static_cast<int>(upto - before));
    before = upto;
  }
  return weights;
}

// Which column of the target, as the image is stored, an output shows; -1: padding.
int column_of(const AxisMap& axis, int output) {
  const int column = axis.window_begin + (axis.flip ? axis.length - 1 - output : output);
  if (column < axis.dropped_before || column >= axis.target - axis.dropped_after) return -1;
  return axis.source_mirrored ? axis.target - 1 - column : column;
}

std::uint8_t fill_of(const SamplingMap& map, std::size_t plane) {
  const int r = map.fill[0], g = map.fill[1], b = map.fill[2];
  const int value[] = {299 * r + 587 * g + 114 * b, -299 * r - 587 * g + 886 * b, 701 * r - 587 * g - 114 * b};
  const int unit[] = {1000, 1772, 1402};
  const int middle[] = {0, 128, 128};
  const Wide rounded = middle[plane] + floor_quotient(2 * value[plane] + unit[plane], 2 * unit[plane]);
  return static_cast<std::uint8_t>(rounded > 255 ? 255 : rounded);
}

using Lines = std::vector<std::vector<std::int64_t>>;

// Step 5: both passes of one plane. `columns` and `rows` are the weights of each output, empty for padding.
PlainPlane resampled(const PlainPlane& plane, const std::vector<std::vector<int>>& columns,
                     const std::vector<std::vector<int>>& rows, bool cubic, std::uint8_t fill) {
  Lines between;
  for (const std::vector<int>& weights : rows) {
    std::vector<std::int64_t> line(static_cast<std::size_t>(weights.empty() ? 0 : plane.width));
    for (std::size_t y = 0; y < weights.size(); ++y) {
      if (weights[y] == 0) continue;
      for (std::size_t x = 0; x < line.size(); ++x) line[x] += weights[y] * plane.samples[y * line.size() + x];
    }
    for (std::int64_t& value : line) value = (value + 128) >> 8;  // of bicubic's 14 bits 6 are kept
    between.push_back(std::move(line));
  }
  PlainPlane result{static_cast<int>(columns.size()), static_cast<int>(rows.size()), 1, 1, {}};
  for (const std::vector<std::int64_t>& line : between) {
    for (const std::vector<int>& weights : columns) {
      if (line.empty() || weights.empty()) {
        result.samples.push_back(fill);
        continue;
      }
      std::int64_t sum = 0;
      for (std::size_t x = 0; x < weights.size(); ++x) sum += weights[x] * line[x];
      std::int64_t value = cubic ? (sum + (1 << 19)) >> 20 : (sum + 128) >> 8;
      if (value < 0) value = 0;
      if (value > 255) value = 255;
      result.samples.push_back(static_cast<std::uint8_t>(value));
    }
  }
  return result;
}

std::vector<std::vector<int>> weights_of_axis(const AxisMap& axis, Filter filter, int factor, int samples, bool smooth,
                                              int bits) {
  std::vector<std::vector<int>> all;
  for (int output = 0; output < axis.length; ++output) {
    const int column = column_of(axis, output);
    all.push_back(column < 0 ? std::vector<int>() : weights_of(axis, filter, factor, samples, smooth, bits, column));
  }
  return all;
}

}  // namespace

std::vector<PlainPlane> reference_planar_geometry(const std::vector<PlainPlane>& planes, const SamplingMap& map) {
  const bool cubic = map.filter == Filter::kBicubic && (map.x.resampled || map.y.resampled);
  const int bits = cubic ? 14 : 8;
  std::vector<PlainPlane> source = planes, result;
  if (source.size() == 1 && (map.x.shows_padding() || map.y.shows_padding())) {
    PlainPlane neutral = source[0];
    neutral.samples.assign(neutral.samples.size(), 128);
    source = {source[0], neutral, neutral};
  }
  for (std::size_t i = 0; i < source.size(); ++i) {
    const PlainPlane& plane = source[i];
    result.push_back(resampled(plane, weights_of_axis(map.x, map.filter, plane.across, plane.width, plane.smooth, bits),
                               weights_of_axis(map.y, map.filter, plane.down, plane.height, plane.smooth, bits), cubic,
                               fill_of(map, i)));
  }
  return result;
}

namespace {

float of_16_bits(double value) {
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  return static_cast<float>(std::ldexp(std::nearbyint(std::ldexp(mantissa, 16)), exponent - 16));
}

}  // namespace

std::vector<std::uint8_t> reference_planar_color(const std::vector<PlainPlane>& planes, const ColorMap& color,
                                                 TensorFormat format) {
  constexpr double kFromCb[] = {0, -0.344136286, 1.772}, kFromCr[] = {1.402, -0.714136286, 0};
  const std::size_t pixels = planes[0].samples.size();
  std::vector<std::uint8_t> out(pixels * 3 * size_of(format.dtype));
  for (std::size_t c = 0; c < 3; ++c) {
    const auto from = static_cast<std::size_t>(color.from[c]);
    const float scale = color.scale[c], bias = color.bias[c] + 0.0f;
    const float from_cb = of_16_bits(kFromCb[from] * static_cast<double>(scale));
    const float from_cr = of_16_bits(kFromCr[from] * static_cast<double>(scale));
    const float black = 0.0f * scale + bias, white = 255.0f * scale + bias;
    for (std::size_t i = 0; i < pixels; ++i) {
      const float y = planes[0].samples[i];
      const float cb = planes.size() == 1 ? 0.0f : static_cast<float>(planes[1].samples[i] - 128);
      const float cr = planes.size() == 1 ? 0.0f : static_cast<float>(planes[2].samples[i] - 128);
      float value = y * scale + bias;  // nothing is contracted: see cmake/layers.cmake
      value = value + cb * from_cb;
      value = value + cr * from_cr;
      if (value < std::fmin(black, white)) value = std::fmin(black, white);
      if (value > std::fmax(black, white)) value = std::fmax(black, white);
      const std::size_t element = format.layout == Layout::kNchw ? c * pixels + i : i * 3 + c;
      store_rounded(value, format.dtype, out.data(), static_cast<std::int64_t>(element));
    }
  }
  return out;
}

}  // namespace stoker
