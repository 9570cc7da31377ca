#include "stoker/ops/kernels/device/device_rgb.h"

#include <algorithm>
#include <cassert>

#include "stoker/ops/kernels/device/device_tables.h"

namespace stoker {
namespace {

std::size_t table_bytes(const AxisTaps& taps) {
  return device_table_bytes(std::span(taps.first)) + device_table_bytes(std::span(taps.count)) +
         device_table_bytes(std::span(taps.weights));
}

DeviceRgbImage::Taps write(const AxisTaps& taps, DeviceTableWriter& tables) {
  return {.first = tables.write(std::span(taps.first)),
          .count = tables.write(std::span(taps.count)),
          .weights = tables.write(std::span(taps.weights)),
          .taps_max = taps.taps_max};
}

// Columns of the source that the vertical pass makes first; 0: it comes second, also where there is nothing to make.
int columns_before(const AxisTaps& across, PassOrder order) {
  return order == PassOrder::kVerticalFirst ? across.source_end - across.source_begin : 0;
}

// The most rows of the source that a block needs which makes so many rows.
int source_rows_max(const AxisTaps& down, int rows) {
  int most = 0;
  for (int from = 0; from < down.outputs; from += rows) {
    int begin = 0, end = 0;
    for (int y = from; y < std::min(from + rows, down.outputs); ++y) {
      const auto output = static_cast<std::size_t>(y);
      if (down.count[output] == 0) continue;
      begin = end == 0 ? down.first[output] : std::min(begin, down.first[output]);
      end = std::max(end, down.first[output] + down.count[output]);
    }
    most = std::max(most, end - begin);
  }
  return most;
}

}  // namespace

std::size_t device_taps_bytes(const AxisTaps& across, const AxisTaps& down) {
  return table_bytes(across) + table_bytes(down);
}

int device_rows(const AxisTaps& across, const AxisTaps& down, PassOrder order) {
  const int columns = columns_before(across, order);
  const std::int64_t row_bytes = std::int64_t{3} * (columns > 0 ? columns : across.outputs);
  const auto rows_between = [&](int rows) { return columns > 0 ? rows : source_rows_max(down, rows); };
  int rows = DeviceRgbKernel::kRowsMax;
  while (rows > 0 && row_bytes * rows_between(rows) > DeviceRgbKernel::kSharedBytes) rows /= 2;
  return rows;
}

DeviceRgbImage describe_for_device(const ResampleSource& source, std::uint64_t pixels, const AxisTaps& across,
                                   const AxisTaps& down, PassOrder order, const std::array<std::uint8_t, 3>& fill,
                                   std::uint8_t* to, std::uint64_t place) {
  assert(source.pixels.interleaved() && source.pixels.channels == 3);
  DeviceRgbImage image{};
  image.pixels = pixels;
  image.row_stride = static_cast<std::int32_t>(source.pixels.row_stride);
  image.source_bytes =
      3U * static_cast<std::uint32_t>(source.pixels.width) * static_cast<std::uint32_t>(source.pixels.height);
  image.x = source.origin_x;
  image.columns = columns_before(across, order);
  if (image.columns > 0) {
    image.pixels += 3 * static_cast<std::uint64_t>(across.source_begin - source.origin_x);
    image.x = across.source_begin;
  }
  image.y = source.origin_y;
  image.rows = device_rows(across, down, order);
  assert(image.rows > 0);
  std::copy(fill.begin(), fill.end(), image.fill);
  DeviceTableWriter tables(to, place);
  image.across = write(across, tables);
  image.down = write(down, tables);
  return image;
}

}  // namespace stoker
