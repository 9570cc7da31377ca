#include "stoker/codec/png_decoder.h"

#include "stoker/codec/exif.h"
#include "stoker/codec/png_reader.h"

namespace stoker {
namespace {

int components_of(const spng_ihdr& header) {
  switch (header.color_type) {
    case SPNG_COLOR_TYPE_GRAYSCALE: return 1;
    case SPNG_COLOR_TYPE_GRAYSCALE_ALPHA: return 2;
    case SPNG_COLOR_TYPE_TRUECOLOR_ALPHA: return 4;
    default: return 3;
  }
}

}  // namespace

ImageFacts PngDecoder::read_facts(Bytes encoded) {
  const PngReader reader(encoded, limits_);
  const spng_ihdr& header = reader.header();
  const Bytes exif = whole_png_exif(encoded);
  return {.codec = Codec::kPng,
          .width = static_cast<int>(header.width),
          .height = static_cast<int>(header.height),
          .components = components_of(header),
          .bits_per_component = header.color_type == SPNG_COLOR_TYPE_INDEXED ? 8 : header.bit_depth,
          .orientation = exif_orientation(exif)};
}

ImageView PngDecoder::decode_rgb(Bytes encoded, const ImageFacts& facts, Rect window, Bytes) {
  const PngReader reader(encoded, limits_);
  check_decode_request(facts, static_cast<int>(reader.header().width), static_cast<int>(reader.header().height),
                       window);

  std::size_t size = 0;
  check_png(spng_decoded_image_size(reader.context(), SPNG_FMT_RGB8, &size));
  std::uint8_t* const pixels = pixels_.bytes(size);
  check_png(spng_decode_image(reader.context(), pixels, size, SPNG_FMT_RGB8, 0));
  check_png(spng_decode_chunks(reader.context()));  // the checksums of the last pixels and of what follows them
  return interleaved_view<const std::uint8_t>(pixels, facts.width, facts.height, 3).crop(window);
}

}  // namespace stoker
