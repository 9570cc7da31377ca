#include "stoker/codec/mask_decoder.h"

#include <cstddef>

#include "stoker/base/error.h"
#include "stoker/codec/image_decoder.h"
#include "stoker/codec/npy.h"
#include "stoker/codec/png_reader.h"

namespace stoker {
namespace {

constexpr std::uint64_t kBytesOfPixel = 8;  // at most: coded colours, and the number

[[noreturn]] void refuse_colors() {
  fail(ErrorKind::kBadSample,
       "the mask has colours, and each of its pixels has to be a number: codes='rgb' takes a colour for one");
}

/// Numbers of less than a byte lie in it from its high bits on.
void unpack_row(const std::uint8_t* packed, int bits, int width, std::uint8_t* out) {
  const int in_byte = 8 / bits, mask = (1 << bits) - 1;
  for (int x = 0; x < width; ++x) {
    const int shift = 8 - bits * (x % in_byte + 1);
    out[x] = static_cast<std::uint8_t>(packed[x / in_byte] >> shift & mask);
  }
}

}  // namespace

void MaskDecoder::check_size(std::int64_t width, std::int64_t height) const {
  if (width > limits_.side_max || height > limits_.side_max || width * height > limits_.pixels_max) {
    fail(ErrorKind::kLimit, "the mask has {} x {} pixels, above the limit of {}", width, height, limits_.pixels_max);
  }
}

std::uint64_t MaskDecoder::memory(Bytes encoded) const {
  if (detect_codec(encoded) != Codec::kPng) return 0;
  const PngReader reader(encoded, limits_);
  check_size(reader.header().width, reader.header().height);
  return kBytesOfPixel * reader.header().width * reader.header().height;
}

MaskPixels MaskDecoder::decode(Bytes encoded, MaskCodes codes) {
  if (detect_codec(encoded) == Codec::kPng) return decode_png(encoded, codes);
  if (has_npy_magic(encoded)) return decode_npy(encoded, codes);
  fail(ErrorKind::kBadSample, "it is not a mask: that is a PNG, or an npy array of uint8");
}

MaskPixels MaskDecoder::decode_png(Bytes encoded, MaskCodes codes) {
  const PngReader reader(encoded, limits_);
  const spng_ihdr& header = reader.header();
  check_size(header.width, header.height);
  whole_png_exif(encoded);
  MaskPixels mask{.width = static_cast<int>(header.width), .height = static_cast<int>(header.height)};
  const std::size_t pixels = std::size_t{header.width} * header.height;
  const bool numbers = header.color_type == SPNG_COLOR_TYPE_GRAYSCALE || header.color_type == SPNG_COLOR_TYPE_INDEXED;
  if (codes == MaskCodes::kIndex && !numbers) refuse_colors();
  const int format = codes == MaskCodes::kRgb ? SPNG_FMT_RGB8 : SPNG_FMT_PNG;
  std::size_t size = 0;
  check_png(spng_decoded_image_size(reader.context(), format, &size));
  std::uint8_t* const coded = coded_.bytes(size);
  check_png(spng_decode_image(reader.context(), coded, size, format, 0));
  check_png(spng_decode_chunks(reader.context()));  // the checksums of the last pixels and of what follows them
  mask.numbers = coded;
  if (codes == MaskCodes::kRgb) {
    auto* const sums = numbers_.array<std::uint32_t>(pixels);
    for (std::size_t i = 0; i < pixels; ++i) {
      sums[i] = coded[3 * i] | std::uint32_t{coded[3 * i + 1]} << 8 | std::uint32_t{coded[3 * i + 2]} << 16;
    }
    mask.bytes = sizeof(std::uint32_t);
    mask.numbers = reinterpret_cast<const std::uint8_t*>(sums);
  } else if (header.bit_depth == 16) {
    mask.bytes = sizeof(std::uint16_t);
  } else if (header.bit_depth < 8) {
    std::uint8_t* const unpacked = numbers_.bytes(pixels);
    const std::size_t packed_row = size / header.height;
    for (std::size_t y = 0; y < header.height; ++y) {
      unpack_row(coded + y * packed_row, header.bit_depth, mask.width, unpacked + y * header.width);
    }
    mask.numbers = unpacked;
  }
  return mask;
}

MaskPixels MaskDecoder::decode_npy(Bytes encoded, MaskCodes codes) const {
  const NpyPixels array = read_npy_header(encoded);
  check_size(array.width, array.height);
  if (array.channels != 1 || codes == MaskCodes::kRgb) {
    fail(ErrorKind::kBadSample, "as a mask an npy array is height x width, of codes='index'");
  }
  return {.width = array.width, .height = array.height, .bytes = 1, .numbers = encoded.data() + array.data_offset};
}

}  // namespace stoker
