// Rectangles of pixels, and views of 8-bit images of another owner: interleaved, planar, mirrored or transposed,
// all told by their strides.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace stoker {

/// Half-open: columns x .. x + width - 1, rows y .. y + height - 1.
struct Rect {
  int x = 0, y = 0, width = 0, height = 0;

  bool empty() const { return width == 0 || height == 0; }

  friend bool operator==(const Rect&, const Rect&) = default;
};

/// The smallest that holds both; empty ones hold nothing.
inline Rect enclosing(const Rect& a, const Rect& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  const int x = std::min(a.x, b.x), y = std::min(a.y, b.y);
  return {x, y, std::max(a.x + a.width, b.x + b.width) - x, std::max(a.y + a.height, b.y + b.height) - y};
}

/// Strides are in bytes and may be negative. The pixels live as long as their owner says.
template <typename Byte>
struct BasicImageView {
  Byte* pixels = nullptr;  // channel 0 of the pixel at column 0, row 0
  int width = 0, height = 0, channels = 0;
  std::ptrdiff_t row_stride = 0, column_stride = 0, channel_stride = 0;

  Byte* at(int x, int y, int channel = 0) const {
    return pixels + y * row_stride + x * column_stride + channel * channel_stride;
  }
  /// Channels of a pixel and pixels of a row lie side by side: what most kernels have a fast path for.
  bool interleaved() const { return channel_stride == 1 && column_stride == channels; }
  BasicImageView crop(Rect r) const {
    BasicImageView view = *this;
    view.pixels = at(r.x, r.y);
    view.width = r.width;
    view.height = r.height;
    return view;
  }
  /// One channel alone.
  BasicImageView plane(int channel) const {
    BasicImageView view = *this;
    view.pixels = at(0, 0, channel);
    view.channels = 1;
    return view;
  }
  operator BasicImageView<const Byte>() const requires(!std::is_const_v<Byte>) {
    return {pixels, width, height, channels, row_stride, column_stride, channel_stride};
  }
};

using ImageView = BasicImageView<const std::uint8_t>;
using MutableImageView = BasicImageView<std::uint8_t>;

/// A view of tightly packed rows of interleaved pixels.
template <typename Byte>
BasicImageView<Byte> interleaved_view(Byte* pixels, int width, int height, int channels) {
  return {pixels, width, height, channels, std::ptrdiff_t{width} * channels, channels, 1};
}

}  // namespace stoker
