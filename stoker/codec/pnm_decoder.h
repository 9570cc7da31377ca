// PNM: PBM, PGM and PPM, of numbers as text or as bytes. Text is read to its last number for any window, so that being
// bad does not depend on it; of bytes only those of the window are.
#pragma once

#include "stoker/codec/image_decoder.h"
#include "stoker/tensor/scratch.h"

namespace stoker {

class PnmDecoder final : public ImageDecoder {
 public:
  /// A file whose samples do not fit in its bytes is bad; what follows them is not looked at.
  ImageFacts read_facts(Bytes encoded) override;
  /// Values are scaled to 8 bits as Pillow does; greys of more than 8 bits to 16, of which the high byte stays. The
  /// view may be one of the encoded bytes.
  ImageView decode_rgb(Bytes encoded, const ImageFacts& facts, Rect window, Bytes entry_points = {}) override;
  /// A bit of 1, which is black, is the number 1; others are numbers as they are stored, whatever the largest is.
  MaskPixels decode_numbers(Bytes encoded, const ImageFacts& facts) override;

 private:
  Scratch pixels_;
};

}  // namespace stoker
