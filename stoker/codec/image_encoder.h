// Encoders for the data that Stoker makes itself: sample sets, contact sheets, packed shards.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/tensor/image.h"
#include "stoker/tensor/image_facts.h"

namespace stoker {

enum class ChromaSubsampling : std::uint8_t { k444, k422, k420 };

struct JpegEncodeOptions {
  int quality = 90;
  ChromaSubsampling subsampling = ChromaSubsampling::k420;
  bool optimize = true;  // Huffman tables made for the image
  bool progressive = false;
  int restart_rows = 0;         // MCU rows between restart markers; 0: none
  Orientation orientation = 1;  // said in an Exif segment; the pixels are stored as they are
};

/// `image` is interleaved: 3 channels RGB, or 1 grey. Replaces the contents of `out`.
void encode_jpeg(ImageView image, const JpegEncodeOptions& options, std::vector<std::uint8_t>& out);

/// 8 bits per channel: 1 grey, 3 RGB, 4 RGBA, interleaved. The orientation is said in an Exif chunk.
void encode_png(ImageView image, std::vector<std::uint8_t>& out, Orientation orientation = 1);

}  // namespace stoker
