// A PNG's bytes under libspng, for decoders of pixels and of masks.
#pragma once

#include <spng.h>

#include <memory>

#include "stoker/base/bytes.h"
#include "stoker/codec/decode_limits.h"

namespace stoker {

/// Throws kMemory or kBadSample for what libspng says.
void check_png(int error);

/// The Exif data of a file that has its end; throws kBadSample for one that does not.
Bytes whole_png_exif(Bytes encoded);

/// One image. Throws what check_png() and check_sides() throw.
class PngReader {
 public:
  PngReader(Bytes encoded, const DecodeLimits& limits);

  const spng_ihdr& header() const { return header_; }
  spng_ctx* context() const { return context_.get(); }

 private:
  std::unique_ptr<spng_ctx, void (*)(spng_ctx*)> context_;
  spng_ihdr header_{};
};

}  // namespace stoker
