// TIFF by libtiff: the first image of a file, in strips or tiles, of 1, 2, 4, 8 or 16 bits, grey, with a palette, RGB,
// CMYK, or YCbCr coded as JPEG. All segments are decoded, then the window put together: being bad must not depend on
// it.
#pragma once

#include <vector>

#include "stoker/codec/image_decoder.h"
#include "stoker/codec/tiff/segment_codec.h"
#include "stoker/tensor/scratch.h"

namespace stoker {

class TiffDecoder final : public ImageDecoder {
 public:
  ImageFacts read_facts(Bytes encoded) override;
  /// Colours that are multiplied by an alpha are divided by it, as in Pillow. Greys of 16 bits keep their high byte, as
  /// colours do (Pillow would clip them to 255 instead).
  ImageView decode_rgb(Bytes encoded, const ImageFacts& facts, Rect window, Bytes entry_points = {}) override;
  bool decodes_cleanly(Bytes encoded, const ImageFacts& facts, std::vector<std::uint8_t>& entry_points) override;
  /// Greys are those that are shown, where the file has white as 0.
  MaskPixels decode_numbers(Bytes encoded, const ImageFacts& facts) override;

 private:
  /// Calls `use` with a row of a segment, its first pixel in the window, how many are there, and their place in the
  /// window.
  template <typename Use>
  void for_each_part_of_a_row(const TiffImage& image, Rect window, const Use& use);
  void decode_planes_of(const TiffImage& image, int segment);

  TiffSegmentCodec codec_;
  Scratch pixels_, segment_, plane_, samples_;
};

}  // namespace stoker
