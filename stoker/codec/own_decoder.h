// Which images Stoker's own JPEG decoder is meant for; the others are decoded by their codec's library, to the same
// pixels.
#pragma once

#include "stoker/tensor/image_facts.h"

namespace stoker {

/// Baseline and extended Huffman coding in a single scan of 8 bits, grey or YCbCr.
inline bool suits_own_decoder(const ImageFacts& facts) {
  return facts.codec == Codec::kJpeg && facts.coding == JpegCoding::kSequential && facts.bits_per_component == 8 &&
         (facts.colors == JpegColors::kGrey || facts.colors == JpegColors::kYcbcr);
}

}  // namespace stoker
