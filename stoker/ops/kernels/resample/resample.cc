#include "stoker/ops/kernels/resample/resample.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <numeric>

#include "stoker/ops/kernels/resample/convert.h"
#include "stoker/ops/kernels/resample/plane_rows.h"
#include "stoker/ops/kernels/resample/tensor_writer.h"

namespace stoker {
namespace {

// The outputs that are not padding; they stand side by side.
struct Shown {
  int begin = 0, end = 0;
  bool empty() const { return begin == end; }
};

Shown shown_outputs(const AxisTaps& taps) {
  const auto is_shown = [](std::int32_t count) { return count > 0; };
  const auto begin = std::find_if(taps.count.begin(), taps.count.end(), is_shown);
  const auto end = std::find_if(taps.count.rbegin(), std::make_reverse_iterator(begin), is_shown).base();
  assert(std::all_of(begin, end, is_shown));
  return {static_cast<int>(begin - taps.count.begin()), static_cast<int>(end - taps.count.begin())};
}

struct RowPlanes {
  const std::uint8_t* of[3] = {};
};

RowPlanes planes_of(const std::uint8_t* row, int channels, std::size_t stride) {
  RowPlanes planes;
  for (int c = 0; c < channels; ++c) planes.of[c] = row + static_cast<std::size_t>(c) * stride;
  return planes;
}

/// Taps that leave a run of columns as it is.
void copy_columns(int first, int count, AxisTaps& taps) {
  taps.outputs = count;
  taps.taps_max = taps.step = 1;
  taps.identity = true;
  taps.first.resize(static_cast<std::size_t>(count));
  std::iota(taps.first.begin(), taps.first.end(), first);
  taps.count.assign(taps.first.size(), 1);
  taps.weights.assign(taps.first.size(), 1 << kTapBits);
  taps.source_begin = first;
  taps.source_end = first + count;
}

/// The source's pixels in the order of the outputs, of taps that step through both axes.
ImageView stepped_view(const ResampleSource& source, const AxisTaps& taps_x, const AxisTaps& taps_y) {
  ImageView view = source.pixels;
  view.pixels = view.at(taps_x.first[0] - source.origin_x, taps_y.first[0] - source.origin_y);
  view.width = taps_x.outputs;
  view.height = taps_y.outputs;
  view.column_stride *= taps_x.step;
  view.row_stride *= taps_y.step;
  return view;
}

}  // namespace

// Source columns are copied to the rows of which the vertical pass makes one, and that is all that the horizontal pass
// sees.
void Resampler::start_vertical_first(const ResampleSource& source, const AxisTaps& taps_x, const AxisTaps& taps_y,
                                     int begin, int end) {
  const int columns = taps_x.source_end - taps_x.source_begin;
  copy_columns(taps_x.source_begin, columns, columns_taps_);
  columns_.start(source, columns_taps_, 0, columns, taps_y.taps_max);
  vertical_.start(columns_, taps_y);
  const auto plane = static_cast<std::ptrdiff_t>(columns_.plane_stride());
  squeezed_ = {{nullptr, columns, taps_y.outputs, source.pixels.channels, 0, 1, plane}, taps_x.source_begin, 0};
  horizontal_.start(squeezed_, taps_x, begin, end, 1);
}

const std::uint8_t* Resampler::finished_row(int output, PassOrder order) {
  if (order == PassOrder::kHorizontalFirst) return vertical_.row(output);
  squeezed_.pixels.pixels = vertical_.row(output);  // whichever row is asked for
  return horizontal_.row(output);
}

/// Calls write_planes(planes, x, y, count) until every output pixel has been written once.
template <typename Sink>
void Resampler::run(const ResampleSource& source, const AxisTaps& taps_x, const AxisTaps& taps_y,
                    const std::array<std::uint8_t, 3>& fill, PassOrder order, const Sink& write_planes) {
  const int channels = source.pixels.channels, width = taps_x.outputs;
  assert(channels == 1 || channels == 3);
  Shown x = shown_outputs(taps_x), y = shown_outputs(taps_y);
  if (x.empty() || y.empty()) x = y = Shown();

  const auto padding_stride = static_cast<std::size_t>(width);
  std::uint8_t* padding = padding_.bytes(padding_stride * static_cast<std::size_t>(channels));
  const RowPlanes fill_planes = planes_of(padding, channels, padding_stride);
  if (x.end - x.begin < width || y.end - y.begin < taps_y.outputs) {
    for (int c = 0; c < channels; ++c) {
      std::memset(padding + static_cast<std::size_t>(c) * padding_stride, fill[static_cast<std::size_t>(c)],
                  padding_stride);
    }
  }
  if (!y.empty()) {
    assert(taps_y.source_begin >= source.origin_y && taps_y.source_end <= source.origin_y + source.pixels.height);
    if (order == PassOrder::kHorizontalFirst) {
      horizontal_.start(source, taps_x, x.begin, x.end, taps_y.taps_max);
      vertical_.start(horizontal_, taps_y);
    } else {
      start_vertical_first(source, taps_x, taps_y, x.begin, x.end);
    }
  }
  for (int output = 0; output < taps_y.outputs; ++output) {
    if (output < y.begin || output >= y.end) {
      write_planes(fill_planes.of, 0, output, width);
      continue;
    }
    const RowPlanes planes = planes_of(finished_row(output, order), channels, horizontal_.plane_stride());
    write_planes(planes.of, x.begin, output, x.end - x.begin);
    if (x.begin > 0) write_planes(fill_planes.of, 0, output, x.begin);
    if (x.end < width) write_planes(fill_planes.of, x.end, output, width - x.end);
  }
}

void Resampler::resample(const ResampleSource& source, const AxisTaps& taps_x, const AxisTaps& taps_y,
                         const std::array<std::uint8_t, 3>& fill, MutableImageView out, PassOrder order) {
  assert(out.width == taps_x.outputs && out.height == taps_y.outputs && out.channels == source.pixels.channels);
  run(source, taps_x, taps_y, fill, order,
      [&](const std::uint8_t* const* planes, int x, int y, int count) { merge_row(planes, out, x, y, count); });
}

void Resampler::resample_converted(const ResampleSource& source, const AxisTaps& taps_x, const AxisTaps& taps_y,
                                   const std::array<std::uint8_t, 3>& fill, const ColorMap& color, TensorFormat format,
                                   std::uint8_t* out, PassOrder order) {
  assert(source.pixels.channels == ColorMap::kChannels);
  // Nothing is resampled: a window of whole rows, which needs no planes in between. (Mirrored rows are quicker with.)
  if (taps_x.step == 1 && taps_y.step != 0) {
    return convert_pixels(stepped_view(source, taps_x, taps_y), color, format, out);
  }
  TensorWriter writer(color, format, taps_x.outputs, taps_y.outputs, out);
  run(source, taps_x, taps_y, fill, order,
      [&](const std::uint8_t* const* planes, int x, int y, int count) { writer.write_planes(planes, x, y, count); });
}

}  // namespace stoker
