#include "stoker/codec/plain_decode.h"

#include "stoker/codec/cmyk.h"
#include "stoker/codec/jpeg_errors.h"

namespace stoker {
namespace {

// libjpeg as its manual shows it: from the first row to the last.
void decode_jpeg(Bytes encoded, PlainImage& image) {
  const int channels = image.facts.components == 4 ? 4 : 3;
  const std::size_t row_bytes = static_cast<std::size_t>(image.facts.width) * static_cast<std::size_t>(channels);
  image.rgb.resize(row_bytes * static_cast<std::size_t>(image.facts.height));
  JpegErrors errors;
  jpeg_decompress_struct jpeg{};
  jpeg.err = errors.manager();
  const bool decoded = errors.attempt([&] {
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, encoded.data(), encoded.size());
    jpeg_read_header(&jpeg, TRUE);
    jpeg.out_color_space = channels == 4 ? JCS_CMYK : JCS_RGB;
    jpeg.dct_method = JDCT_ISLOW;
    jpeg_start_decompress(&jpeg);
    while (jpeg.output_scanline < jpeg.output_height) {
      JSAMPROW row = image.rgb.data() + jpeg.output_scanline * row_bytes;
      jpeg_read_scanlines(&jpeg, &row, 1);
    }
  });
  jpeg_destroy_decompress(&jpeg);
  if (!decoded) fail(errors.kind(), "the JPEG data cannot be decoded: {}", errors.message());
  if (channels == 4) {
    const std::size_t pixels =
        static_cast<std::size_t>(image.facts.width) * static_cast<std::size_t>(image.facts.height);
    inverted_cmyk_to_rgb_in_place(image.rgb.data(), pixels);
    image.rgb.resize(pixels * 3);
  }
}

// PNG and WebP have no fast path: their decoders always make the whole image.
void decode_other(ImageDecoder& decoder, Bytes encoded, PlainImage& image) {
  const ImageView view = decoder.decode_rgb(encoded, image.facts, {0, 0, image.facts.width, image.facts.height});
  image.rgb.reserve(static_cast<std::size_t>(view.width) * static_cast<std::size_t>(view.height) * 3);
  for (int y = 0; y < view.height; ++y) {
    for (int x = 0; x < view.width; ++x) {
      for (int c = 0; c < 3; ++c) image.rgb.push_back(*view.at(x, y, c));
    }
  }
}

}  // namespace

PlainImage decode_plain_rgb(Bytes encoded, const DecodeLimits& limits) {
  AnyImageDecoder decoder(limits);
  PlainImage image;
  image.facts = decoder.read_facts(encoded);
  if (image.facts.codec == Codec::kJpeg) {
    decode_jpeg(encoded, image);
  } else {
    decode_other(decoder, encoded, image);
  }
  return image;
}

}  // namespace stoker
