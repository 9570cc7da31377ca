#include "stoker/plan/rgb_path.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "stoker/codec/decode_memory.h"
#include "stoker/codec/decode_work.h"
#include "stoker/ops/kernels/resample/convert.h"

namespace stoker {

void RgbPath::begin(const ImageWork& work) {
  work_ = &work;
  build_taps(work.map.x, work.map.filter, taps_x_);
  build_taps(work.map.y, work.map.filter, taps_y_);
  order_ = pass_order(work.map, work.program->decode.pillow);
}

// The part of the upright image that the taps read.
Rect RgbPath::upright_window() const {
  // A map may show nothing but padding; decoders still need a window, and a bad sample must still be found.
  const auto span_of = [](const AxisTaps& taps) { return std::max(taps.source_end - taps.source_begin, 1); };
  return {taps_x_.source_begin, taps_y_.source_begin, span_of(taps_x_), span_of(taps_y_)};
}

Rect RgbPath::window() const {
  const ImageFacts& facts = work_->image->facts;
  return stored_window(upright_window(), facts.width, facts.height, work_->orientation);
}

std::uint64_t RgbPath::decode_memory(Rect window) const {
  return decode_rgb_memory(work_->image->facts, work_->image->encoded.size(), window);
}

std::int64_t RgbPath::decode_work(Rect window) const {
  return decode_rgb_work(work_->image->facts, window, !work_->image->entry_points.empty());
}

StageTensor RgbPath::decoded() const {
  const Rect window = upright_window();
  return {DType::kU8, image_shape(Layout::kNhwc, window.height, window.width, ColorMap::kChannels)};
}

StageTensor RgbPath::resized() const {
  return {DType::kU8, image_shape(Layout::kNhwc, work_->map.height(), work_->map.width(), ColorMap::kChannels)};
}

// The part that holds those of all.
Rect RgbPath::upright_window_of(std::span<PixelPath* const> paths) {
  Rect window;
  for (const PixelPath* const path : paths) {
    window = enclosing(window, static_cast<const RgbPath*>(path)->upright_window());
  }
  return window;
}

std::size_t RgbPath::decoded_bytes(std::span<PixelPath* const> paths) const {
  const Rect window = upright_window_of(paths);
  return static_cast<std::size_t>(window.width) * static_cast<std::size_t>(window.height) * ColorMap::kChannels;
}

MutableImageView RgbPath::resized_view(std::uint8_t* memory) const {
  return interleaved_view(memory, work_->map.width(), work_->map.height(), ColorMap::kChannels);
}

DecodedImage RgbPath::decode(AnyImageDecoder& decoder, Rect window) const {
  const CodedImage& image = *work_->image;
  return {.window = window,
          .pixels = decoder.decode_rgb(image.encoded, image.facts, window, image.entry_points),
          .planes = {}};
}

void RgbPath::use(const DecodedImage& decoded) { decoded_ = decoded; }

// A part of the upright image, of what was decoded.
ResampleSource RgbPath::source_in(Rect upright) const {
  const ImageFacts& facts = work_->image->facts;
  Rect stored = stored_window(upright, facts.width, facts.height, work_->orientation);
  stored.x -= decoded_.window.x;
  stored.y -= decoded_.window.y;
  return {oriented(decoded_.pixels.crop(stored), work_->orientation), upright.x, upright.y};
}

void RgbPath::geometry(MutableImageView out) {
  assert(out.width == work_->map.width() && out.height == work_->map.height());
  scratch_.rgb.resample(source_in(upright_window()), taps_x_, taps_y_, work_->map.fill, out, order_);
}

void RgbPath::color(ImageView resized, std::uint8_t* out) const {
  convert_pixels(resized, work_->color, work_->format, out);
}

void RgbPath::transform(std::uint8_t* out) {
  scratch_.rgb.resample_converted(source_in(upright_window()), taps_x_, taps_y_, work_->map.fill, work_->color,
                                  work_->format, out, order_);
}

namespace {

void copy_pixels(ImageView from, MutableImageView to) {
  const std::size_t row_bytes = static_cast<std::size_t>(from.width) * ColorMap::kChannels;
  for (int y = 0; y < from.height; ++y) {
    if (from.interleaved()) {
      std::memcpy(to.at(0, y), from.at(0, y), row_bytes);
      continue;
    }
    for (int x = 0; x < from.width; ++x) {
      for (int c = 0; c < ColorMap::kChannels; ++c) *to.at(x, y, c) = *from.at(x, y, c);
    }
  }
}

}  // namespace

bool RgbPath::hand_over_decoded(const SharedHandOver& shared) const {
  const auto path_of = [&](std::size_t i) -> const RgbPath& { return static_cast<const RgbPath&>(*shared.paths[i]); };
  const Rect window = upright_window_of(shared.paths);
  std::size_t tables = 0;
  for (std::size_t i = 0; i < shared.paths.size(); ++i) {
    const RgbPath& path = path_of(i);
    if (device_rows(path.taps_x_, path.taps_y_, path.order_) == 0) return false;
    tables += device_taps_bytes(path.taps_x_, path.taps_y_);
  }
  // Tables stand at multiples of 8.
  std::size_t offset = (decoded_bytes(shared.paths) + 7) / 8 * 8;
  DeviceGrant grant;
  if (!shared.room.grant(offset + tables, 0, grant)) return false;
  const MutableImageView held = interleaved_view(grant.staging, window.width, window.height, ColorMap::kChannels);
  copy_pixels(source_in(window).pixels, held);
  for (std::size_t i = 0; i < shared.paths.size(); ++i) {
    const RgbPath& path = path_of(i);
    shared.items[i] =
        describe_for_device({held, window.x, window.y}, grant.place, path.taps_x_, path.taps_y_, path.order_,
                            path.work_->map.fill, grant.staging + offset, grant.place + offset);
    offset += device_taps_bytes(path.taps_x_, path.taps_y_);
  }
  return true;
}

}  // namespace stoker
