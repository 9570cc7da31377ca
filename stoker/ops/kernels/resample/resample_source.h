// The pixels that a resampling reads, and their place in the image.
#pragma once

#include "stoker/tensor/image.h"

namespace stoker {

/// Where the resampler reads: `pixels` shows the source columns and rows [origin_x, origin_x + width) x
/// [origin_y, origin_y + height), at least those that the taps need. 1 or 3 channels; interleaved and planar views are
/// fast, any strides are right.
struct ResampleSource {
  ImageView pixels;
  int origin_x = 0, origin_y = 0;
};

}  // namespace stoker
