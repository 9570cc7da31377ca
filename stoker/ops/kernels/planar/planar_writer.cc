#include "stoker/ops/kernels/planar/planar_writer.h"

#include <algorithm>

#include "stoker/base/error.h"

namespace stoker {

PlanarWriter::PlanarWriter(const ColorMap& color, TensorFormat format, int width, int height, std::uint8_t* out,
                           Scratch* apart)
    : kernels_(planar_kernels()),
      format_(format),
      width_(static_cast<std::size_t>(width)),
      height_(static_cast<std::size_t>(height)),
      element_size_(size_of(format.dtype)),
      out_(out),
      apart_(apart) {
  if (format.dtype == DType::kI64) {
    fail(ErrorKind::kUsage, "an image cannot be stored as {}; use u8, f16, bf16 or f32", to_string(format.dtype));
  }
  const PlanarColor by_channel(color);
  for (std::size_t slot = 0; slot < ColorMap::kChannels; ++slot) {
    const auto* found = std::find(color.from.begin(), color.from.end(), static_cast<int>(slot));
    channel_of_[slot] = static_cast<std::size_t>(found - color.from.begin());
  }
  slots_.ordered = std::find(channel_of_, channel_of_ + ColorMap::kChannels, std::size_t{ColorMap::kChannels}) ==
                   channel_of_ + ColorMap::kChannels;
  for (std::size_t slot = 0; slot < ColorMap::kChannels; ++slot) {
    if (!slots_.ordered) channel_of_[slot] = slot;
    const std::size_t c = channel_of_[slot];
    slots_.scale[slot] = by_channel.scale[c];
    slots_.bias[slot] = by_channel.bias[c];
    slots_.from_cb[slot] = by_channel.from_cb[c];
    slots_.from_cr[slot] = by_channel.from_cr[c];
    slots_.low[slot] = by_channel.low[c];
    slots_.high[slot] = by_channel.high[c];
    if (format.dtype != DType::kU8) continue;  // the cast clamps too: both at once
    slots_.low[slot] = std::max(slots_.low[slot], 0.0f);
    slots_.high[slot] = std::min(slots_.high[slot], 255.0f);
  }
}

std::uint8_t* PlanarWriter::slot_element(std::size_t slot, int x, int y) const {
  const std::size_t row = channel_of_[slot] * height_ + static_cast<std::size_t>(y);
  return out_ + (row * width_ + static_cast<std::size_t>(x)) * element_size_;
}

PlanarFinish PlanarWriter::finish_job() const {
  PlanarFinish job{};
  job.color = &slots_;
  job.dtype = format_.dtype;
  return job;
}

void PlanarWriter::finish(PlanarFinish& job, int x, int y) {
  if (format_.layout == Layout::kNchw) {
    for (std::size_t slot = 0; slot < ColorMap::kChannels; ++slot) job.out[slot] = slot_element(slot, x, y);
    job.out_stride = width_ * element_size_;
    job.past_caches = true;
    return kernels_.finish(job);
  }
  const auto count = static_cast<std::size_t>(job.table_y.outputs), rows = static_cast<std::size_t>(job.row_count);
  const std::size_t row = count * element_size_, channel = row * kPlanarBlockRows;
  std::uint8_t* apart = apart_->bytes(channel * ColorMap::kChannels);
  for (std::size_t slot = 0; slot < ColorMap::kChannels; ++slot) job.out[slot] = apart + channel_of_[slot] * channel;
  job.out_stride = row;
  kernels_.finish(job);
  for (std::size_t r = 0; r < rows; ++r) {
    const std::uint8_t* const channels[] = {apart + r * row, apart + channel + r * row, apart + 2 * channel + r * row};
    const std::size_t pixel = (static_cast<std::size_t>(y) + r) * width_ + static_cast<std::size_t>(x);
    kernels_.interleave(channels, count, element_size_, out_ + pixel * ColorMap::kChannels * element_size_);
  }
}

void PlanarWriter::write(const std::uint8_t* const* planes, int x, int y, int count) {
  if (format_.layout == Layout::kNchw) {
    std::uint8_t* const out[] = {slot_element(0, x, y), slot_element(1, x, y), slot_element(2, x, y)};
    kernels_.color(planes[0], planes[1], planes[2], static_cast<std::size_t>(count), slots_, format_.dtype, out);
    return;
  }
  constexpr std::size_t kElementMax = sizeof(float);
  alignas(64) std::uint8_t parts[ColorMap::kChannels][kChunk * kElementMax];
  std::uint8_t* const by_slot[] = {parts[channel_of_[0]], parts[channel_of_[1]], parts[channel_of_[2]]};
  const std::uint8_t* const by_channel[] = {parts[0], parts[1], parts[2]};
  const std::size_t pixel = static_cast<std::size_t>(y) * width_ + static_cast<std::size_t>(x);
  for (int done = 0; done < count; done += kChunk) {
    const auto part = static_cast<std::size_t>(std::min(kChunk, count - done));
    const bool grey = planes[1] == nullptr;
    kernels_.color(planes[0] + done, grey ? nullptr : planes[1] + done, grey ? nullptr : planes[2] + done, part, slots_,
                   format_.dtype, by_slot);
    const std::size_t at = (pixel + static_cast<std::size_t>(done)) * ColorMap::kChannels * element_size_;
    kernels_.interleave(by_channel, part, element_size_, out_ + at);
  }
}

}  // namespace stoker
