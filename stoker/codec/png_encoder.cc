#include <spng.h>

#include <cstddef>
#include <cstdlib>
#include <memory>

#include "stoker/base/error.h"
#include "stoker/codec/exif.h"
#include "stoker/codec/image_encoder.h"

namespace stoker {
namespace {

void check_encoding(int error) {
  if (error != SPNG_OK) fail(ErrorKind::kUsage, "the image cannot be encoded as PNG: {}", spng_strerror(error));
}

std::uint8_t color_type(int channels) {
  switch (channels) {
    case 1: return SPNG_COLOR_TYPE_GRAYSCALE;
    case 3: return SPNG_COLOR_TYPE_TRUECOLOR;
    case 4: return SPNG_COLOR_TYPE_TRUECOLOR_ALPHA;
    default: fail(ErrorKind::kUsage, "a PNG has 1, 3 or 4 channels, not {}", channels);
  }
}

}  // namespace

void encode_png(ImageView image, std::vector<std::uint8_t>& out, Orientation orientation) {
  spng_ihdr header{};
  header.width = static_cast<std::uint32_t>(image.width);
  header.height = static_cast<std::uint32_t>(image.height);
  header.bit_depth = 8;
  header.color_type = color_type(image.channels);
  if (!image.interleaved()) fail(ErrorKind::kUsage, "a PNG needs interleaved rows");

  const std::unique_ptr<spng_ctx, void (*)(spng_ctx*)> context(spng_ctx_new(SPNG_CTX_ENCODER), spng_ctx_free);
  if (!context) fail(ErrorKind::kMemory, "no memory for a PNG encoder");
  check_encoding(spng_set_option(context.get(), SPNG_ENCODE_TO_BUFFER, 1));
  check_encoding(spng_set_ihdr(context.get(), &header));
  std::vector<std::uint8_t> exif;
  if (orientation != 1) {
    exif = make_exif(orientation);
    exif.erase(exif.begin(), exif.begin() + kExifOpeningBytes);  // which only JPEGs have
    spng_exif chunk{exif.size(), reinterpret_cast<char*>(exif.data())};
    check_encoding(spng_set_exif(context.get(), &chunk));
  }
  check_encoding(
      spng_encode_image(context.get(), nullptr, 0, SPNG_FMT_PNG, SPNG_ENCODE_PROGRESSIVE | SPNG_ENCODE_FINALIZE));

  const std::size_t row_bytes = static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.channels);
  for (int y = 0; y < image.height; ++y) {
    const int error = spng_encode_row(context.get(), image.at(0, y), row_bytes);
    if (error != SPNG_EOI || y + 1 < image.height) check_encoding(error);  // the last row is answered by "end of image"
  }
  std::size_t size = 0;
  int error = SPNG_OK;
  const std::unique_ptr<void, void (*)(void*)> bytes(spng_get_png_buffer(context.get(), &size, &error), std::free);
  check_encoding(error);
  const auto* const first = static_cast<const std::uint8_t*>(bytes.get());
  out.assign(first, first + size);
}

}  // namespace stoker
