#include "stoker/ops/kernels/resample/convert.h"

#include <algorithm>
#include <cassert>

#include "stoker/ops/kernels/resample/plane_rows.h"
#include "stoker/ops/kernels/resample/tensor_writer.h"

namespace stoker {

void convert_pixels(ImageView pixels, const ColorMap& color, TensorFormat format, std::uint8_t* out) {
  assert(pixels.channels == ColorMap::kChannels);
  TensorWriter writer(color, format, pixels.width, pixels.height, out);
  const bool planar = pixels.column_stride == 1, as_is = pixels.interleaved() && writer.takes_pixels();
  if (as_is && pixels.row_stride == pixels.width * pixels.column_stride) {  // the rows are one
    return writer.write_pixels(pixels.pixels, 0, 0, pixels.width * pixels.height);
  }

  constexpr int kChunk = 512;  // pixels: three planes of it stay in the first-level cache
  alignas(64) std::uint8_t memory[ColorMap::kChannels][kChunk];
  std::uint8_t* const split[] = {memory[0], memory[1], memory[2]};
  for (int y = 0; y < pixels.height; ++y) {
    if (as_is) {
      writer.write_pixels(pixels.at(0, y), 0, y, pixels.width);
    } else if (planar) {
      const std::uint8_t* const planes[] = {pixels.at(0, y, 0), pixels.at(0, y, 1), pixels.at(0, y, 2)};
      writer.write_planes(planes, 0, y, pixels.width);
    } else {
      for (int x = 0; x < pixels.width; x += kChunk) {
        const int count = std::min(kChunk, pixels.width - x);
        split_row(pixels, x, y, count, split);
        writer.write_planes(split, x, y, count);
      }
    }
  }
}

}  // namespace stoker
