// What the planar path hands over to a device: one image for all views that share it, and the taps of each.
#include <cstring>

#include "stoker/plan/planar_path.h"

namespace stoker {
namespace {

std::ptrdiff_t row_stride_of(int width) {
  constexpr auto kUnit = static_cast<std::ptrdiff_t>(kDeviceRowAlignment);
  return (width + kUnit - 1) / kUnit * kUnit;
}

}  // namespace

// Where the samples lie that any of the views reads.
Planes PlanarPath::planes_for(std::span<PixelPath* const> paths) const {
  Planes needed = planes_;
  for (int i = 0; i < needed.count; ++i) {
    Rect source;
    for (const PixelPath* const path : paths) source = enclosing(source, taps_of(*path).source(i));
    Plane& plane = needed.plane[static_cast<std::size_t>(i)];
    plane.x = source.x, plane.y = source.y, plane.width = source.width, plane.height = source.height;
    plane.row_stride = row_stride_of(source.width);
  }
  return needed;
}

std::size_t PlanarPath::decoded_bytes(std::span<PixelPath* const> paths) const {
  const Planes needed = planes_for(paths);
  std::size_t bytes = 0;
  for (int i = 0; i < needed.count; ++i) {
    const Plane& plane = needed.plane[static_cast<std::size_t>(i)];
    bytes += static_cast<std::size_t>(plane.width) * static_cast<std::size_t>(plane.height);
  }
  return bytes;
}

// What the tables of all views take; nothing if the device's kernel cannot make one of the views.
std::optional<std::size_t> PlanarPath::taps_bytes(const SharedHandOver& shared, const Planes& held) {
  std::size_t bytes = 0;
  for (const PixelPath* path : shared.paths) {
    if (device_rows(held, taps_of(*path)) == 0) return std::nullopt;
    bytes += device_taps_bytes(taps_of(*path));
  }
  return bytes;
}

// Writes the tables of all views. `item_of` makes their items, of which the first may bring the samples for all.
template <class ItemOf>
void PlanarPath::describe(const SharedHandOver& shared, const Planes& held, const std::uint64_t (&samples)[3],
                          DeviceGrant tables, const ItemOf& item_of) {
  for (std::size_t i = 0; i < shared.paths.size(); ++i) {
    const auto& path = static_cast<const PlanarPath&>(*shared.paths[i]);
    DevicePlanarImage image = describe_for_device(held, samples, path.taps_, tables.staging, tables.place);
    image.transposed = path.turn_.transpose;
    const std::size_t bytes = device_taps_bytes(path.taps_);
    tables.staging += bytes;
    tables.place += bytes;
    shared.items[i] = item_of(image, i == 0);
  }
}

bool PlanarPath::hand_over_coded(const SharedHandOver& shared) const {
  const CodedImage& image = *work_->image;
  const JpegWindow* const coded =
      shared.decoder.find_window(image.encoded, image.facts, shared.window, image.entry_points, shrink_);
  if (!coded) return false;
  const std::optional<std::size_t> tables = taps_bytes(shared, coded->planes);
  const std::size_t coded_bytes = device_jpeg_bytes(*coded);
  std::size_t sample_bytes = 0;
  for (const std::size_t bytes : coded->plane_bytes) sample_bytes += bytes;
  const std::size_t coefficients = device_place_bytes(sample_bytes);
  const std::size_t scratch_bytes = coefficients + device_jpeg_coefficient_bytes(*coded);
  DeviceGrant grant;
  if (!tables || !shared.room.grant(coded_bytes + *tables, scratch_bytes, grant)) return false;
  const std::uint64_t samples[] = {0, coded->plane_bytes[0], coded->plane_bytes[0] + coded->plane_bytes[1]};
  const DeviceJpegImage jpeg = describe_for_device(*coded, samples, coefficients, grant.staging, grant.place);
  describe(shared, coded->planes, samples, {grant.staging + coded_bytes, grant.place + coded_bytes},
           [&](const DevicePlanarImage& planar, bool first) -> DeviceItem {
             if (!first) return DeviceSharedImage{planar, shared.room.first_view()};
             return DeviceCodedImage{jpeg, planar, scratch_bytes};
           });
  return true;
}

// Baseline and progressive files in the samplings that nvJPEG's documentation names.
bool PlanarPath::suits_nvjpeg() const {
  const JpegCoding coding = work_->image->facts.coding;
  if (coding != JpegCoding::kSequential && coding != JpegCoding::kProgressive) return false;
  const auto& [luma, first, second] = planes_.plane;
  if (luma.across != 1 || luma.down != 1) return false;
  if (planes_.count == 1) return true;
  if (first.across != second.across || first.down != second.down) return false;
  return (first.across == 1 || first.across == 2 || first.across == 4) && first.down <= 2;
}

bool PlanarPath::hand_over_file(const SharedHandOver& shared) const {
  const CodedImage& coded = *work_->image;
  if (!suits_nvjpeg()) return false;
  // Of several scans only decoding tells, which is what is to be spared.
  if (coded.facts.coding == JpegCoding::kSequential && !shared.decoder.is_surely_good(coded.encoded)) return false;
  DeviceFileImage image;
  image.decode.facts = coded.facts;
  image.decode.plane_count = planes_.count;
  Planes whole = planes_;
  for (int i = 0; i < whole.count; ++i) {
    Plane& plane = whole.plane[static_cast<std::size_t>(i)];
    plane.width = plane.whole_width, plane.height = plane.whole_height;
    plane.row_stride = row_stride_of(plane.width);
    image.decode.plane[i] = {
        .row_stride = static_cast<std::size_t>(plane.row_stride), .width = plane.width, .height = plane.height};
    image.samples[i] = image.scratch_bytes;
    image.scratch_bytes += image.decode.plane[i].row_stride * static_cast<std::size_t>(plane.height);
  }
  const std::optional<std::size_t> tables = taps_bytes(shared, whole);
  DeviceGrant grant;
  if (image.scratch_bytes > kFileScratchMax || !tables) return false;
  if (!shared.room.grant(*tables + coded.encoded.size(), image.scratch_bytes, grant)) return false;
  // What nvJPEG copies to the device by itself is not known; the file crosses with the rest, and is counted so.
  std::memcpy(grant.staging + *tables, coded.encoded.data(), coded.encoded.size());
  image.decode.file = {grant.staging + *tables, coded.encoded.size()};
  describe(shared, whole, image.samples, grant, [&](const DevicePlanarImage& planar, bool first) -> DeviceItem {
    if (!first) return DeviceSharedImage{planar, shared.room.first_view()};
    image.planar = planar;
    return image;
  });
  return true;
}

bool PlanarPath::hand_over_decoded(const SharedHandOver& shared) const {
  const Planes held = planes_for(shared.paths);
  std::size_t bytes = 0, offsets[3] = {};
  for (int i = 0; i < held.count; ++i) {
    const Plane& plane = held.plane[static_cast<std::size_t>(i)];
    offsets[i] = bytes;
    bytes += static_cast<std::size_t>(plane.row_stride) * static_cast<std::size_t>(plane.height);
  }
  const std::optional<std::size_t> tables = taps_bytes(shared, held);
  DeviceGrant grant;
  if (!tables || !shared.room.grant(bytes + *tables, 0, grant)) return false;
  std::uint64_t samples[3] = {};
  for (std::size_t i = 0; i < static_cast<std::size_t>(held.count); ++i) {
    const Plane& plane = held.plane[i];
    samples[i] = grant.place + offsets[i];
    for (int row = 0; row < plane.height; ++row) {
      std::memcpy(grant.staging + offsets[i] + row * plane.row_stride, planes_.plane[i].at(plane.x, plane.y + row),
                  static_cast<std::size_t>(plane.width));
    }
  }
  describe(shared, held, samples, {grant.staging + bytes, grant.place + bytes},
           [](const DevicePlanarImage& planar, bool) -> DeviceItem { return planar; });
  return true;
}

}  // namespace stoker
