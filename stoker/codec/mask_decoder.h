// Masks: pictures of which each pixel is a number. Of a palette that is the index, which decoders of pixels replace by
// a colour.
#pragma once

#include <cstdint>

#include "stoker/base/bytes.h"
#include "stoker/codec/decode_limits.h"
#include "stoker/codec/image_decoder.h"
#include "stoker/codec/mask_pixels.h"
#include "stoker/tensor/mask_codes.h"
#include "stoker/tensor/scratch.h"

namespace stoker {

/// One mask at a time. Keeps scratch; one per thread.
class MaskDecoder {
 public:
  explicit MaskDecoder(DecodeLimits limits = {}) : limits_(limits), images_(limits) {}

  /// About what decode() takes of memory. Throws as decode() does.
  std::uint64_t memory(Bytes encoded);
  /// Until the next call, and as long as the bytes. Throws kBadSample for what is not a mask, or not sound, and kLimit.
  MaskPixels decode(Bytes encoded, MaskCodes codes);

 private:
  ImageFacts facts_of(Bytes encoded);
  MaskPixels decode_array(Bytes encoded, MaskCodes codes);
  MaskPixels add_up_colors(ImageView image);

  DecodeLimits limits_;
  AnyImageDecoder images_;
  Scratch numbers_;
};

}  // namespace stoker
