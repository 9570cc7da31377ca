#include "stoker/ops/sampling_map.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "stoker/base/error.h"
#include "stoker/base/words.h"

namespace stoker {
namespace {

constexpr Word<Filter> kFilters[] = {{Filter::kNearest, "nearest"},
                                     {Filter::kBox, "box"},
                                     {Filter::kBilinear, "bilinear"},
                                     {Filter::kBicubic, "bicubic"}};

// The least part of a source column that may be resized again. A chain of resize and crop can show ever less; this
// stays far above the rounding of coordinates, so that the part always lies on at least one column.
constexpr double kPartMin = 1.0 / 65'536;

}  // namespace

std::string_view to_string(Filter filter) { return word_of(kFilters, filter); }

Filter parse_filter(std::string_view name) { return value_of(kFilters, name, "not a filter"); }

AxisMap AxisMap::identity(int size) {
  AxisMap axis;
  axis.clamp_end = size;
  axis.box_length = size;
  axis.target = size;
  axis.length = size;
  return axis;
}

double on_grid(double place) {
  constexpr double kSteps = 0x1p28, kMost = 0x1p24;  // beyond which nothing is seen
  return std::abs(place) < kMost ? std::nearbyint(place * kSteps) / kSteps : place;
}

double AxisMap::output_at(double place) const {
  const double read = source_mirrored ? clamp_end - place : place - clamp_begin;
  const double column = resampled ? (read - box_begin) / box_length * target : read;
  const double output = column - window_begin;
  return on_grid(flip ? length - output : output);
}

void AxisMap::crop(int begin, int new_length) {
  assert(new_length > 0);
  // The window is kept unflipped: what is cut off on the left of a mirrored view is cut off on the window's right.
  window_begin += flip ? length - begin - new_length : begin;
  length = new_length;
  dropped_before = std::max(dropped_before, window_begin);
  dropped_after = std::max(dropped_after, target - (window_begin + length));
}

// The same columns, counted from the other end.
void AxisMap::read_mirrored() {
  source_mirrored = !source_mirrored;
  box_begin = std::max(0.0, clamp_end - clamp_begin - (box_begin + box_length));
}

AxisMap AxisMap::of_mirrored_source(int size) const {
  AxisMap axis = *this;
  axis.clamp_begin = size - clamp_end;
  axis.clamp_end = size - clamp_begin;
  axis.source_mirrored = !source_mirrored;
  return axis;
}

void AxisMap::resize(int new_length) {
  assert(new_length > 0 && !shows_padding());
  if (!resampled) {  // the crop ends here: no tap may look beyond it
    clamp_end = clamp_begin + window_begin + length;
    clamp_begin += window_begin;
    box_begin = 0;
    box_length = length;
  } else {  // resizing what is resized already stretches the same map; the window becomes the box
    const double step = box_length / target;
    const double begin = box_begin + window_begin * step;
    const double end = begin + length * step;
    if (end - begin < kPartMin) {
      fail(ErrorKind::kLimit, "resizing and cropping leaves {:.1e} of a source pixel to resize; the minimum is {:.1e}",
           end - begin, kPartMin);
    }
    const int columns = clamp_end - clamp_begin;
    const int cut_before = static_cast<int>(std::floor(begin));
    const int cut_after = std::max(0, columns - static_cast<int>(std::ceil(end)));
    clamp_begin += source_mirrored ? cut_after : cut_before;
    clamp_end -= source_mirrored ? cut_before : cut_after;
    box_begin = begin - cut_before;
    box_length = end - begin;
  }
  if (flip) read_mirrored();
  flip = false;
  resampled = true;
  target = new_length;
  window_begin = 0;
  length = new_length;
  dropped_before = dropped_after = 0;
}

void SamplingMap::resize(int new_width, int new_height, Filter new_filter) {
  if (x.shows_padding() || y.shows_padding()) {
    fail(ErrorKind::kBadSample, "{}", kPaddingResized);
  }
  const bool stays = new_width == x.length && new_height == y.length;
  if (!stays || !is_resized) filter = new_filter;
  if (stays) return;
  x.resize(new_width);
  y.resize(new_height);
  is_resized = true;
}

void SamplingMap::crop_or_pad(Rect window, const std::array<std::uint8_t, 3>& color) {
  const bool padded = x.shows_padding() || y.shows_padding();
  const bool pads =
      window.x < 0 || window.y < 0 || window.x + window.width > width() || window.y + window.height > height();
  x.crop(window.x, window.width);
  y.crop(window.y, window.height);
  if (!pads) return;
  if (padded && fill != color) {
    fail(ErrorKind::kBadSample, "{}", kColorsOfPadding);
  }
  fill = color;
}

int SamplingMap::shrink() const {
  const auto allows = [](const AxisMap& axis, int shrink) {
    return axis.resampled && axis.box_length >= static_cast<double>(shrink) * axis.target;
  };
  int shrink = 8;
  while (shrink > 1 && !(allows(x, shrink) && allows(y, shrink))) shrink /= 2;
  return shrink;
}

SamplingMap SamplingMap::stored(const Turn& turn, int stored_width, int stored_height) const {
  SamplingMap map = *this;
  if (turn.transpose) std::swap(map.x, map.y);
  if (turn.mirror_columns) map.x = map.x.of_mirrored_source(stored_width);
  if (turn.mirror_rows) map.y = map.y.of_mirrored_source(stored_height);
  return map;
}

}  // namespace stoker
