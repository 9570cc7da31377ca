#include "stoker/plan/planar_path.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "stoker/codec/decode_memory.h"

namespace stoker {
namespace {

constexpr int kPlanes = 3;

// Planes one after another.
MutableImageView planar_view(std::uint8_t* memory, int width, int height) {
  return {memory, width, height, kPlanes, width, 1, std::ptrdiff_t{width} * height};
}

std::ptrdiff_t rounded_up(int bytes, std::size_t alignment) {
  const auto unit = static_cast<std::ptrdiff_t>(alignment);
  return (bytes + unit - 1) / unit * unit;
}

// Baseline and progressive files in the samplings that nvJPEG's documentation names.
bool suits_nvjpeg(const ImageFacts& facts, const Planes& planes) {
  if (facts.coding != JpegCoding::kSequential && facts.coding != JpegCoding::kProgressive) return false;
  const auto& [luma, first, second] = planes.plane;
  if (planes.count == 1) return true;
  if (luma.across != 1 || luma.down != 1 || first.across != second.across || first.down != second.down) return false;
  return (first.across == 1 || first.across == 2 || first.across == 4) && first.down <= 2;
}

MutableImageView transposed(MutableImageView view) {
  std::swap(view.width, view.height);
  std::swap(view.column_stride, view.row_stride);
  return view;
}

}  // namespace

void PlanarPath::begin(const ImageWork& work) {
  work_ = &work;
  turn_ = turn_of(work.orientation);
  planes_ = work.decoder->plane_sizes(work.encoded, work.facts);
  if (takes_it()) taps_.build(work.map.stored(turn_, work.facts.width, work.facts.height), planes_);
}

// The pixels of the stored image whose samples are read.
Rect PlanarPath::window() const {
  Rect window;
  for (int i = 0; i < planes_.count; ++i) {
    // Along each axis some plane is as fine as the image.
    const Plane& plane = planes_.plane[static_cast<std::size_t>(i)];
    const Rect source = taps_.source(i);
    if (plane.across == 1) window.x = source.x, window.width = source.width;
    if (plane.down == 1) window.y = source.y, window.height = source.height;
  }
  // There may be nothing but padding; decoders still need a window, and a bad sample must still be found.
  window.width = std::max(window.width, 1);
  window.height = std::max(window.height, 1);
  return window;
}

std::uint64_t PlanarPath::decode_memory() const {
  return decode_planes_memory(work_->facts, work_->encoded.size(), window());
}

std::uint64_t PlanarPath::decode_memory_max() const {
  const ImageFacts& facts = work_->facts;
  return decode_planes_memory(facts, work_->encoded.size(), {0, 0, facts.width, facts.height});
}

StageTensor PlanarPath::decoded() const {
  std::int64_t samples = 0;
  for (int i = 0; i < planes_.count; ++i) {
    const Rect source = taps_.source(i);
    samples += std::int64_t{source.width} * source.height;
  }
  return {DType::kU8, Shape{samples}};
}

StageTensor PlanarPath::resized() const {
  return {DType::kU8, image_shape(Layout::kNchw, work_->map.height(), work_->map.width(), kPlanes)};
}

MutableImageView PlanarPath::resized_view(std::uint8_t* memory) const {
  return planar_view(memory, work_->map.width(), work_->map.height());
}

void PlanarPath::decode() {
  planes_ = work_->decoder->decode_planes(work_->encoded, work_->facts, window(), work_->entry_points);
}

void PlanarPath::geometry(MutableImageView out) {
  assert(out.width == work_->map.width() && out.height == work_->map.height() && out.channels == kPlanes);
  if (!turn_.transpose) return resampler_.resample(planes_, taps_, out);
  const MutableImageView stored = planar_view(turned_.bytes(resized().bytes()), taps_.width(), taps_.height());
  resampler_.resample(planes_, taps_, stored);
  const MutableImageView upright = transposed(stored);
  for (int plane = 0; plane < kPlanes; ++plane) {
    for (int y = 0; y < out.height; ++y) {
      for (int x = 0; x < out.width; ++x) *out.at(x, y, plane) = *upright.at(x, y, plane);
    }
  }
}

void PlanarPath::color(ImageView resized, std::uint8_t* out) const {
  convert_planes(resized, work_->color, work_->format, out);
}

void PlanarPath::transform(std::uint8_t* out) {
  if (!turn_.transpose) return resampler_.resample_converted(planes_, taps_, work_->color, work_->format, out);
  const MutableImageView stored = planar_view(turned_.bytes(resized().bytes()), taps_.width(), taps_.height());
  resampler_.resample(planes_, taps_, stored);
  convert_planes(transposed(stored), work_->color, work_->format, out);
}

bool PlanarPath::hand_over_coded(DeviceBatch::Room& room, DeviceItem& item) {
  const JpegWindow* const coded =
      work_->decoder->find_window(work_->encoded, work_->facts, window(), work_->entry_points);
  if (!coded || device_rows(coded->planes, taps_) == 0) return false;
  const std::size_t coded_bytes = device_jpeg_bytes(*coded);
  std::size_t sample_bytes = 0;
  for (const std::size_t bytes : coded->plane_bytes) sample_bytes += bytes;
  DeviceGrant grant;
  if (!room.grant(coded_bytes + device_taps_bytes(taps_), sample_bytes, grant)) return false;
  std::uint64_t samples[kPlanes] = {0, coded->plane_bytes[0], coded->plane_bytes[0] + coded->plane_bytes[1]};
  DeviceCodedImage image{
      describe_for_device(*coded, samples, grant.staging, grant.place),
      describe_for_device(coded->planes, samples, taps_, grant.staging + coded_bytes, grant.place + coded_bytes),
      sample_bytes};
  image.planar.transposed = turn_.transpose;
  item = image;
  return true;
}

bool PlanarPath::hand_over_file(DeviceBatch::Room& room, DeviceItem& item) {
  if (!suits_nvjpeg(work_->facts, planes_)) return false;
  // Of several scans only decoding tells, which is what is to be spared.
  if (work_->facts.coding == JpegCoding::kSequential && !work_->decoder->is_surely_good(work_->encoded)) return false;
  DeviceFileImage image;
  image.decode.facts = work_->facts;
  image.decode.plane_count = planes_.count;
  Planes whole = planes_;
  for (int i = 0; i < whole.count; ++i) {
    Plane& plane = whole.plane[static_cast<std::size_t>(i)];
    plane.width = plane.whole_width, plane.height = plane.whole_height;
    plane.row_stride = rounded_up(plane.width, kDeviceRowAlignment);
    image.decode.plane[i] = {
        .row_stride = static_cast<std::size_t>(plane.row_stride), .width = plane.width, .height = plane.height};
    image.samples[i] = image.scratch_bytes;
    image.scratch_bytes += image.decode.plane[i].row_stride * static_cast<std::size_t>(plane.height);
  }
  if (image.scratch_bytes > kFileScratchMax || device_rows(whole, taps_) == 0) return false;
  const std::size_t taps_bytes = device_taps_bytes(taps_);
  DeviceGrant grant;
  if (!room.grant(taps_bytes + work_->encoded.size(), image.scratch_bytes, grant)) return false;
  image.planar = describe_for_device(whole, image.samples, taps_, grant.staging, grant.place);
  image.planar.transposed = turn_.transpose;
  // What nvJPEG copies to the device by itself nobody knows; the file crosses with the rest, and is counted so.
  std::memcpy(grant.staging + taps_bytes, work_->encoded.data(), work_->encoded.size());
  image.decode.file = {grant.staging + taps_bytes, work_->encoded.size()};
  item = image;
  return true;
}

bool PlanarPath::hand_over_decoded(DeviceBatch::Room& room, DeviceItem& item) {
  // The samples that are read, and no others.
  Planes held = planes_;
  std::size_t offsets[kPlanes] = {}, bytes = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(planes_.count); ++i) {
    Plane& plane = held.plane[i];
    const Rect source = taps_.source(static_cast<int>(i));
    plane.x = source.x, plane.y = source.y, plane.width = source.width, plane.height = source.height;
    plane.row_stride = rounded_up(source.width, kDeviceRowAlignment);
    offsets[i] = bytes;
    bytes += static_cast<std::size_t>(plane.row_stride) * static_cast<std::size_t>(plane.height);
  }
  if (device_rows(held, taps_) == 0) return false;
  DeviceGrant grant;
  if (!room.grant(bytes + device_taps_bytes(taps_), 0, grant)) return false;
  std::uint64_t samples[kPlanes] = {};
  for (std::size_t i = 0; i < static_cast<std::size_t>(planes_.count); ++i) {
    const Plane& plane = held.plane[i];
    samples[i] = grant.place + offsets[i];
    for (int row = 0; row < plane.height; ++row) {
      std::memcpy(grant.staging + offsets[i] + row * plane.row_stride, planes_.plane[i].at(plane.x, plane.y + row),
                  static_cast<std::size_t>(plane.width));
    }
  }
  DevicePlanarImage image = describe_for_device(held, samples, taps_, grant.staging + bytes, grant.place + bytes);
  image.transposed = turn_.transpose;
  item = image;
  return true;
}

}  // namespace stoker
