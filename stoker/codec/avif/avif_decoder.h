// AVIF by libavif: the primary image, or of a sequence the image that stands for it, of 8, 10 or 12 bits. The whole
// image is decoded, then the window viewed.
#pragma once

#include "stoker/codec/image_decoder.h"
#include "stoker/tensor/scratch.h"

namespace stoker {

class AvifDecoder final : public ImageDecoder {
 public:
  /// Rotation and mirroring are the orientation; a clean aperture is ignored, as in Pillow.
  ImageFacts read_facts(Bytes encoded) override;
  /// 8 bits, as libavif converts; alpha is dropped, after colours that are multiplied by it were divided.
  ImageView decode_rgb(Bytes encoded, const ImageFacts& facts, Rect window, Bytes entry_points = {}) override;

 private:
  Scratch pixels_;
};

}  // namespace stoker
