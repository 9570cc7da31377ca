#include "stoker/plan/rgb_path.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "stoker/codec/decode_memory.h"
#include "stoker/ops/kernels/resample/convert.h"

namespace stoker {

void RgbPath::begin(const ImageWork& work) {
  work_ = &work;
  build_taps(work.map.x, work.map.filter, taps_x_);
  build_taps(work.map.y, work.map.filter, taps_y_);
  order_ = pass_order(work.map, work.program->decode.pillow);
}

// The part of the upright image that the taps read.
Rect RgbPath::window() const {
  // A map may show nothing but padding; decoders still need a window, and a bad sample must still be found.
  const auto span_of = [](const AxisTaps& taps) { return std::max(taps.source_end - taps.source_begin, 1); };
  return {taps_x_.source_begin, taps_y_.source_begin, span_of(taps_x_), span_of(taps_y_)};
}

Rect RgbPath::window_as_stored() const {
  return stored_window(window(), work_->facts.width, work_->facts.height, work_->orientation);
}

std::uint64_t RgbPath::decode_memory() const { return decode_rgb_memory(work_->facts, window_as_stored()); }

std::uint64_t RgbPath::decode_memory_max() const {
  return decode_rgb_memory(work_->facts, {0, 0, work_->facts.width, work_->facts.height});
}

StageTensor RgbPath::decoded() const {
  return {DType::kU8, image_shape(Layout::kNhwc, window().height, window().width, ColorMap::kChannels)};
}

StageTensor RgbPath::resized() const {
  return {DType::kU8, image_shape(Layout::kNhwc, work_->map.height(), work_->map.width(), ColorMap::kChannels)};
}

MutableImageView RgbPath::resized_view(std::uint8_t* memory) const {
  return interleaved_view(memory, work_->map.width(), work_->map.height(), ColorMap::kChannels);
}

void RgbPath::decode() {
  const ImageView stored = work_->decoder->decode_rgb(work_->encoded, work_->facts, window_as_stored());
  source_ = {oriented(stored, work_->orientation), window().x, window().y};
}

void RgbPath::geometry(MutableImageView out) {
  assert(out.width == work_->map.width() && out.height == work_->map.height());
  resampler_.resample(source_, taps_x_, taps_y_, work_->map.fill, out, order_);
}

void RgbPath::color(ImageView resized, std::uint8_t* out) const {
  convert_pixels(resized, work_->color, work_->format, out);
}

void RgbPath::transform(std::uint8_t* out) {
  resampler_.resample_converted(source_, taps_x_, taps_y_, work_->map.fill, work_->color, work_->format, out, order_);
}

bool RgbPath::hand_over_decoded(DeviceBatch::Room& room, DeviceItem& item) {
  if (device_rows(taps_x_, taps_y_, order_) == 0) return false;
  const ImageView& from = source_.pixels;
  const std::size_t row_bytes = static_cast<std::size_t>(from.width) * ColorMap::kChannels;
  // Tables stand at multiples of 8.
  const std::size_t bytes = (row_bytes * static_cast<std::size_t>(from.height) + 7) / 8 * 8;
  DeviceGrant grant;
  if (!room.grant(bytes + device_taps_bytes(taps_x_, taps_y_), 0, grant)) return false;
  const MutableImageView to = interleaved_view(grant.staging, from.width, from.height, ColorMap::kChannels);
  for (int y = 0; y < from.height; ++y) {
    if (from.interleaved()) {
      std::memcpy(to.at(0, y), from.at(0, y), row_bytes);
      continue;
    }
    for (int x = 0; x < from.width; ++x) {
      for (int c = 0; c < ColorMap::kChannels; ++c) *to.at(x, y, c) = *from.at(x, y, c);
    }
  }
  item = describe_for_device({to, source_.origin_x, source_.origin_y}, grant.place, taps_x_, taps_y_, order_,
                             work_->map.fill, grant.staging + bytes, grant.place + bytes);
  return true;
}

}  // namespace stoker
