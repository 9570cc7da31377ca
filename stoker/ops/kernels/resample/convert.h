// The colour family's kernel: 8-bit pixels through a ColorMap into a finished tensor, cast and laid out.
#pragma once

#include "stoker/ops/color_map.h"
#include "stoker/tensor/image.h"

namespace stoker {

/// Writes height x width x 3 elements of format.dtype at `out`, contiguous in format.layout. `pixels` has 3 channels,
/// of any strides (interleaved and planar ones are fast). The same bits on every instruction set.
void convert_pixels(ImageView pixels, const ColorMap& color, TensorFormat format, std::uint8_t* out);

}  // namespace stoker
