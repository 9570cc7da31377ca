// Pictures of classes.
#include "fuzz/fuzz_target.h"
#include "stoker/codec/mask_decoder.h"

namespace stoker {
namespace {

void run(Bytes input) {
  MaskDecoder decoder(DecodeLimits::up_to(1 << 20));
  for (const MaskCodes codes : {MaskCodes::kIndex, MaskCodes::kRgb}) {
    accepts({ErrorKind::kBadSample, ErrorKind::kLimit}, [&] {
      // An array is not larger than its file; of a TIFF tiles count, which may be larger than the image.
      const std::uint64_t most = (std::uint64_t{8} << 20) + 8 * input.size();
      require_that(detect_codec(input) == Codec::kTiff || decoder.memory(input) <= most,
                   "memory is bounded by the pixels");
      const MaskPixels mask = decoder.decode(input, codes);
      const std::size_t bytes = static_cast<std::size_t>(mask.width) * static_cast<std::size_t>(mask.height) *
                                static_cast<std::size_t>(mask.bytes);
      std::uint64_t sum = 0;
      for (const std::uint8_t byte : Bytes(mask.numbers, bytes)) sum += byte;  // all can be read
      require_that(sum <= 255 * bytes, "numbers are bytes");
    });
  }
}

const AnnounceFuzzTarget kTarget({.name = "mask", .run = run});

}  // namespace
}  // namespace stoker
