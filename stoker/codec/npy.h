// Arrays of pixels as numpy stores them (.npy), for images that are kept decoded: uint8, height x width x channels.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/tensor/image.h"
#include "stoker/tensor/npy_header.h"

namespace stoker {

struct NpyPixels {
  int width = 0, height = 0, channels = 0;  // 1, 3 or 4
  std::size_t data_offset = 0;
};

/// Reads the header. Throws kBadSample for what is not an array of pixels, or holds fewer or more bytes than it says.
NpyPixels read_npy_header(Bytes encoded);

/// Replaces `out` by the header and the pixels, row by row; the data begin at a multiple of 64.
void encode_npy(ImageView image, std::vector<std::uint8_t>& out);

}  // namespace stoker
