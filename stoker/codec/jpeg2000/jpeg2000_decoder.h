// JPEG 2000 by openjpeg: JP2 files and bare codestreams of up to 16 bits, grey, RGB, YCbCr, CMYK, or with a palette.
// The whole image is decoded, then the window converted.
#pragma once

#include <vector>

#include "stoker/codec/image_decoder.h"
#include "stoker/tensor/scratch.h"

namespace stoker {

class Jpeg2000Decoder final : public ImageDecoder {
 public:
  ImageFacts read_facts(Bytes encoded) override;
  /// Samples of less than 8 bits are spread over the range, of more keep their high ones (Pillow shifts the former up,
  /// and rounds the latter, which makes white black). Alpha is dropped, also where colours are multiplied by it.
  ImageView decode_rgb(Bytes encoded, const ImageFacts& facts, Rect window, Bytes entry_points = {}) override;
  bool decodes_cleanly(Bytes encoded, const ImageFacts& facts, std::vector<std::uint8_t>& entry_points) override;

 private:
  Scratch pixels_;
  bool concealed_ = false;  // a fault of the image that was decoded last
};

}  // namespace stoker
