// PNG by libspng: every colour type and depth, interlaced or not. The whole image is decoded, then the window viewed.
#pragma once

#include "stoker/codec/image_decoder.h"
#include "stoker/tensor/scratch.h"

namespace stoker {

class PngReader;

class PngDecoder final : public ImageDecoder {
 public:
  explicit PngDecoder(DecodeLimits limits = {}) : limits_(limits) {}

  ImageFacts read_facts(Bytes encoded) override;
  /// Colour profiles, gamma and transparency are ignored. Greys of 16 bits keep their high byte, as colours do (Pillow
  /// would clip them to 255 instead, which makes most such images white).
  ImageView decode_rgb(Bytes encoded, const ImageFacts& facts, Rect window, Bytes entry_points = {}) override;
  MaskPixels decode_numbers(Bytes encoded, const ImageFacts& facts) override;

 private:
  /// The whole image in one of libspng's formats, into pixels_.
  std::size_t decode_as(int format, const PngReader& reader);

  DecodeLimits limits_;
  Scratch pixels_, numbers_;
};

}  // namespace stoker
