// GIF by giflib: the first frame, as it is shown, on a canvas of the transparent colour or else of colour 0, as in
// Pillow. The whole frame is decoded, then the window's colours looked up.
#pragma once

#include "stoker/codec/image_decoder.h"
#include "stoker/tensor/scratch.h"

namespace stoker {

class GifReader;

class GifDecoder final : public ImageDecoder {
 public:
  /// Bad is a file that ends before its first frame does; what follows that frame is not looked at.
  ImageFacts read_facts(Bytes encoded) override;
  ImageView decode_rgb(Bytes encoded, const ImageFacts& facts, Rect window, Bytes entry_points = {}) override;
  MaskPixels decode_numbers(Bytes encoded, const ImageFacts& facts) override;

 private:
  const std::uint8_t* decode_indices(GifReader& reader);

  Scratch pixels_, indices_;
};

}  // namespace stoker
