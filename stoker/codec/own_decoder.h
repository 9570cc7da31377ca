// Tells which images Stoker's own JPEG decoder takes; all others are decoded by their codec's library, to the same
// pixels.
#pragma once

#include <string_view>

#include "stoker/tensor/image_facts.h"

namespace stoker {

/// Baseline and extended Huffman coding in a single scan of 8 bits, grey or YCbCr.
inline bool suits_own_decoder(const ImageFacts& facts) {
  return facts.codec == Codec::kJpeg && facts.coding == JpegCoding::kSequential && facts.bits_per_component == 8 &&
         (facts.colors == JpegColors::kGrey || facts.colors == JpegColors::kYcbcr);
}

/// What makes a JPEG one that is left to libjpeg; empty if nothing does.
constexpr std::string_view unsuited_because(const ImageFacts& facts) {
  if (facts.codec != Codec::kJpeg) return {};
  switch (facts.coding) {
    case JpegCoding::kProgressive: return "progressive";
    case JpegCoding::kArithmetic: return "arithmetic coding";
    case JpegCoding::kSequentialScans: return "a scan for each component";
    case JpegCoding::kSequential:
    case JpegCoding::kNone: break;
  }
  if (facts.bits_per_component != 8) return "more than 8 bits a component";
  if (facts.colors == JpegColors::kRgb) return "RGB components";
  if (facts.colors == JpegColors::kCmyk || facts.colors == JpegColors::kYcck) return "CMYK";
  return {};
}

}  // namespace stoker
