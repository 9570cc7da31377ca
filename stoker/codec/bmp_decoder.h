// BMP, parsed here: 1 to 32 bits per pixel, palettes, run lengths. Uncompressed rows are read only where the window is;
// run lengths have to be followed from the first to the last, so that being bad does not depend on the window.
#pragma once

#include "stoker/codec/image_decoder.h"
#include "stoker/tensor/scratch.h"

namespace stoker {

struct BmpHeader;
struct BmpRows;

class BmpDecoder final : public ImageDecoder {
 public:
  ImageFacts read_facts(Bytes encoded) override;
  /// Pixels that run lengths jump over have the palette's first colour; a colour that the palette lacks is black.
  ImageView decode_rgb(Bytes encoded, const ImageFacts& facts, Rect window, Bytes entry_points = {}) override;
  MaskPixels decode_numbers(Bytes encoded, const ImageFacts& facts) override;

 private:
  BmpRows rows_of(Bytes encoded, const BmpHeader& header);
  const std::uint8_t* expand_runs(Bytes encoded, const BmpHeader& header);

  Scratch pixels_, indices_;
};

/// Whether the bytes open as a BMP does. Two letters alone would claim many texts, so the header's size counts, too.
bool has_bmp_magic(Bytes encoded);

}  // namespace stoker
