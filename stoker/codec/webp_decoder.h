// WebP by libwebp: lossy and lossless, still images and the first frame of animations. The whole image is decoded, then
// the window viewed: libwebp's own cropping would not see damage beyond the window, and being bad must not depend on
// the window.
#pragma once

#include "stoker/codec/image_decoder.h"
#include "stoker/tensor/scratch.h"

namespace stoker {

class WebpDecoder final : public ImageDecoder {
 public:
  ImageFacts read_facts(Bytes encoded) override;
  ImageView decode_rgb(Bytes encoded, const ImageFacts& facts, Rect window, Bytes entry_points = {}) override;

 private:
  Scratch pixels_;
};

}  // namespace stoker
