// Masks: pictures of which each pixel is a number. Of a PNG with a palette that is the index, which decoders of pixels
// replace by a colour.
#pragma once

#include <cstdint>

#include "stoker/base/bytes.h"
#include "stoker/codec/decode_limits.h"
#include "stoker/tensor/mask_codes.h"
#include "stoker/tensor/scratch.h"

namespace stoker {

/// The numbers of all pixels, row by row without padding.
struct MaskPixels {
  int width = 0, height = 0;
  int bytes = 1;  // of a number: 1, 2 or 4
  const std::uint8_t* numbers = nullptr;

  /// One of them; `T` has so many bytes.
  template <typename T>
  const T* row(int y) const {
    return reinterpret_cast<const T*>(numbers) + static_cast<std::ptrdiff_t>(y) * width;
  }
};

/// One mask at a time. Keeps scratch; one per thread.
class MaskDecoder {
 public:
  explicit MaskDecoder(DecodeLimits limits = {}) : limits_(limits) {}

  /// About what decode() takes of memory. Throws as decode() does.
  std::uint64_t memory(Bytes encoded) const;
  /// Until the next call, and as long as the bytes. Throws kBadSample for what is not a mask, or not sound, and kLimit.
  MaskPixels decode(Bytes encoded, MaskCodes codes);

 private:
  MaskPixels decode_png(Bytes encoded, MaskCodes codes);
  MaskPixels decode_npy(Bytes encoded, MaskCodes codes) const;
  void check_size(std::int64_t width, std::int64_t height) const;

  DecodeLimits limits_;
  Scratch coded_, numbers_;
};

}  // namespace stoker
