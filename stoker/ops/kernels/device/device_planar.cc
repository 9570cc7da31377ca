#include "stoker/ops/kernels/device/device_planar.h"

#include <algorithm>
#include <cassert>

#include "stoker/ops/kernels/device/device_tables.h"

namespace stoker {
namespace {

std::size_t table_bytes(const PlanarAxisTaps& taps) {
  return device_table_bytes(std::span(taps.first)) + device_table_bytes(std::span(taps.weight));
}

DeviceTaps write(const PlanarAxisTaps& taps, DeviceTableWriter& tables) {
  return {.first = tables.write(std::span(taps.first)),
          .weights = tables.write(std::span(taps.weight)),
          .begin = taps.begin,
          .outputs = taps.outputs,
          .taps = taps.taps,
          .stride = static_cast<std::int32_t>(taps.stride)};
}

}  // namespace

std::size_t device_taps_bytes(const PlanarTaps& taps) {
  std::size_t bytes = 0;
  for (int p = 0; p < taps.channels(); ++p) {
    if (taps.x_twin(p) == p) bytes += table_bytes(taps.x(p));
    if (taps.y_twin(p) == p) bytes += table_bytes(taps.y(p));
  }
  return bytes;
}

namespace {

// Groups of four columns, counted from what is held of a plane, that any output reads.
struct Groups {
  int first, count;

  Groups(const Plane& plane, const PlanarAxisTaps& taps)
      : first((taps.source_begin - plane.x) / 4), count((taps.source_end - plane.x + 3) / 4 - first) {}
};

bool shows_source(const PlanarTaps& taps) { return taps.x(0).outputs > 0 && taps.y(0).outputs > 0; }

}  // namespace

int device_rows(const Planes& planes, const PlanarTaps& taps) {
  int row_bytes = 1;
  for (int p = 0; p < (shows_source(taps) ? planes.count : 0); ++p) {
    row_bytes += Groups(planes.plane[static_cast<std::size_t>(p)], taps.x(p)).count * 4 * (taps.cubic() ? 2 : 1);
  }
  return std::min(DevicePlanarKernel::kSharedBytes / row_bytes, DevicePlanarKernel::kRowsMax);
}

DevicePlanarImage describe_for_device(const Planes& planes, const std::uint64_t (&samples)[3], const PlanarTaps& taps,
                                      std::uint8_t* to, std::uint64_t place) {
  DevicePlanarImage image{};
  image.width = taps.width();
  image.height = taps.height();
  image.cubic = taps.cubic();
  image.rows = device_rows(planes, taps);
  assert(image.rows > 0);
  std::copy(taps.fill().begin(), taps.fill().end(), image.fill);
  // Of a grey image that shows padding there are taps for planes that it does not have.
  image.planes = shows_source(taps) ? planes.count : 0;

  DeviceTableWriter tables(to, place);
  for (int p = 0; p < image.planes; ++p) {
    const Plane& source = planes.plane[static_cast<std::size_t>(p)];
    DevicePlanarImage::Plane& plane = image.plane[p];
    assert(source.row_stride % static_cast<std::ptrdiff_t>(kDeviceRowAlignment) == 0);
    const Groups groups(source, taps.x(p));
    const Rect read = taps.source(p);
    image.source_bytes += static_cast<std::uint32_t>(read.width) * static_cast<std::uint32_t>(read.height);
    plane.samples = samples[p];
    plane.row_stride = static_cast<std::int32_t>(source.row_stride);
    plane.x = source.x;
    plane.y = source.y;
    plane.first_group = groups.first;
    plane.groups = groups.count;
    plane.across = taps.x_twin(p) == p ? write(taps.x(p), tables) : image.plane[taps.x_twin(p)].across;
    plane.down = taps.y_twin(p) == p ? write(taps.y(p), tables) : image.plane[taps.y_twin(p)].down;
  }
  return image;
}

}  // namespace stoker
