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

  decode_as(SPNG_FMT_RGB8, reader);
  return interleaved_view<const std::uint8_t>(pixels_.bytes(0), facts.width, facts.height, 3).crop(window);
}

MaskPixels PngDecoder::decode_numbers(Bytes encoded, const ImageFacts& facts) {
  const PngReader reader(encoded, limits_);
  const spng_ihdr& header = reader.header();
  check_decode_request(facts, static_cast<int>(header.width), static_cast<int>(header.height),
                       {0, 0, facts.width, facts.height});
  if (header.color_type != SPNG_COLOR_TYPE_GRAYSCALE && header.color_type != SPNG_COLOR_TYPE_INDEXED) {
    refuse_colors_of_mask();
  }
  const std::size_t row_bytes = decode_as(SPNG_FMT_PNG, reader) / header.height;
  const std::uint8_t* const stored = pixels_.bytes(0);
  MaskPixels mask{
      .width = facts.width, .height = facts.height, .bytes = header.bit_depth == 16 ? 2 : 1, .numbers = stored};
  if (header.bit_depth >= 8) return mask;
  std::uint8_t* const numbers = numbers_.bytes(std::size_t{header.width} * header.height);
  for (std::size_t y = 0; y < header.height; ++y) {
    unpack_numbers(stored + y * row_bytes, header.bit_depth, mask.width, numbers + y * header.width);
  }
  mask.numbers = numbers;
  return mask;
}

std::size_t PngDecoder::decode_as(int format, const PngReader& reader) {
  std::size_t size = 0;
  check_png(spng_decoded_image_size(reader.context(), format, &size));
  check_png(spng_decode_image(reader.context(), pixels_.bytes(size), size, format, 0));
  check_png(spng_decode_chunks(reader.context()));  // the checksums of the last pixels and of what follows them
  return size;
}

}  // namespace stoker
