#include "stoker/ops/kernels/resample/tensor_writer.h"

#include <algorithm>
#include <cstring>

#include "stoker/base/error.h"

namespace stoker {

TensorWriter::TensorWriter(const ColorMap& color, TensorFormat format, int width, int height, std::uint8_t* out)
    : kernels_(row_kernels()),
      color_(color),
      format_(format),
      width_(static_cast<std::size_t>(width)),
      height_(static_cast<std::size_t>(height)),
      element_size_(size_of(format.dtype)),
      copies_(format.dtype == DType::kU8 && color.affine_identity()),
      out_(out) {
  if (format.dtype == DType::kI64) {
    fail(ErrorKind::kUsage, "an image cannot be stored as {}; use u8, f16, bf16 or f32", to_string(format.dtype));
  }
  for (std::size_t c = 0; c < ColorMap::kChannels; ++c) {
    for (std::size_t i = 0; i < AffinePattern::kLength; ++i) {
      const std::size_t channel = format.layout == Layout::kNchw ? c : i % ColorMap::kChannels;
      patterns_[c].scale[i] = color.scale[channel];
      patterns_[c].bias[i] = color.bias[channel];
    }
  }
}

bool TensorWriter::takes_pixels() const {
  return format_.layout == Layout::kNhwc && color_.from == std::array<int, ColorMap::kChannels>{0, 1, 2};
}

void TensorWriter::write_values(const std::uint8_t* values, std::size_t count, const AffinePattern& pattern,
                                std::uint8_t* out) const {
  if (copies_) {
    std::memcpy(out, values, count);
  } else {
    kernels_.convert(values, count, pattern, format_.dtype, out);
  }
}

void TensorWriter::write_pixels(const std::uint8_t* pixels, int x, int y, int count) {
  const std::size_t pixel = static_cast<std::size_t>(y) * width_ + static_cast<std::size_t>(x);
  write_values(pixels, static_cast<std::size_t>(count) * ColorMap::kChannels, patterns_[0],
               element(pixel * ColorMap::kChannels));
}

void TensorWriter::write_planes(const std::uint8_t* const* planes, int x, int y, int count) {
  const std::size_t pixel = static_cast<std::size_t>(y) * width_ + static_cast<std::size_t>(x);
  if (format_.layout == Layout::kNchw) {
    for (std::size_t c = 0; c < ColorMap::kChannels; ++c) {
      write_values(planes[color_.from[c]], static_cast<std::size_t>(count), patterns_[c],
                   element(c * height_ * width_ + pixel));
    }
    return;
  }
  const std::uint8_t* channels[ColorMap::kChannels];
  for (std::size_t c = 0; c < ColorMap::kChannels; ++c) channels[c] = planes[color_.from[c]];
  if (copies_) {
    return kernels_.interleave(channels, static_cast<std::size_t>(count), element(pixel * ColorMap::kChannels));
  }
  alignas(64) std::uint8_t pixels[kChunk * ColorMap::kChannels];
  for (int done = 0; done < count; done += kChunk) {
    const int part = std::min(kChunk, count - done);
    kernels_.interleave(channels, static_cast<std::size_t>(part), pixels);
    write_pixels(pixels, x + done, y, part);
    for (const std::uint8_t*& channel : channels) channel += part;
  }
}

}  // namespace stoker
