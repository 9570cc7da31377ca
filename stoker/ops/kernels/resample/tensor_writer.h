// Puts rows of 8-bit pixels into a finished tensor: the affine map, the cast and the layout. convert_pixels() is a loop
// over it, and the resampler hands it each row while that is still in the cache.
#pragma once

#include <cstdint>

#include "stoker/ops/color_map.h"
#include "stoker/ops/kernels/resample/row_kernels.h"

namespace stoker {

class TensorWriter {
 public:
  /// `out` has height x width x 3 elements of format.dtype. Throws kUsage for a dtype that images do not have.
  TensorWriter(const ColorMap& color, TensorFormat format, int width, int height, std::uint8_t* out);

  /// Pixels x .. x + count - 1 of row y, from the three input channels.
  void write_planes(const std::uint8_t* const* planes, int x, int y, int count);

  /// Whether interleaved pixels can be written as they are (the layout keeps the channels of a pixel together).
  bool takes_pixels() const;
  void write_pixels(const std::uint8_t* pixels, int x, int y, int count);

 private:
  static constexpr int kChunk = 256;  // pixels interleaved at a time

  void write_values(const std::uint8_t* values, std::size_t count, const AffinePattern& pattern,
                    std::uint8_t* out) const;
  std::uint8_t* element(std::size_t index) const { return out_ + index * element_size_; }

  const RowKernels& kernels_;
  ColorMap color_;
  TensorFormat format_;
  std::size_t width_, height_, element_size_;
  bool copies_;  // the bytes go through unchanged
  std::uint8_t* out_;
  AffinePattern patterns_[ColorMap::kChannels];  // kNchw: of each output channel; kNhwc: the first, over all three
};

}  // namespace stoker
