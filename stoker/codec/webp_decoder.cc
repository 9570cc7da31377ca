#include "stoker/codec/webp_decoder.h"

#include <webp/decode.h>

#include <cstddef>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/codec/decode_request.h"
#include "stoker/codec/exif.h"

namespace stoker {
namespace {

constexpr std::size_t kRiffHeaderBytes = 12, kChunkHeaderBytes = 8;

std::string_view describe(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_OUT_OF_MEMORY: return "there is not enough memory";
    case VP8_STATUS_BITSTREAM_ERROR: return "its bitstream is damaged";
    case VP8_STATUS_UNSUPPORTED_FEATURE: return "it uses a feature that libwebp does not support";
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA: return "it is truncated";
    default: return "libwebp refuses it";
  }
}

void check(VP8StatusCode status) {
  if (status == VP8_STATUS_OK) return;
  const ErrorKind kind = status == VP8_STATUS_OUT_OF_MEMORY ? ErrorKind::kMemory : ErrorKind::kBadSample;
  fail(kind, "the WebP data cannot be decoded: {}", describe(status));
}

std::size_t u32_at(Bytes bytes, std::size_t at) {
  return bytes[at] | std::size_t{bytes[at + 1]} << 8 | std::size_t{bytes[at + 2]} << 16 |
         std::size_t{bytes[at + 3]} << 24;
}

// Throws unless the file is as long as its first header says.
void check_length(Bytes encoded) {
  if (encoded.size() < kRiffHeaderBytes) check(VP8_STATUS_NOT_ENOUGH_DATA);
  if (u32_at(encoded, 4) > encoded.size() - kChunkHeaderBytes) check(VP8_STATUS_NOT_ENOUGH_DATA);
}

// The Exif chunk, which only extended files have; they also have other chunks, in any order.
Bytes find_exif(Bytes encoded) {
  std::size_t at = kRiffHeaderBytes;
  while (at <= encoded.size() && encoded.size() - at >= kChunkHeaderBytes) {
    const std::size_t length = u32_at(encoded, at + 4);
    if (length > encoded.size() - at - kChunkHeaderBytes) return {};
    if (as_text(encoded.subspan(at, 4)) == "EXIF") return encoded.subspan(at + kChunkHeaderBytes, length);
    at += kChunkHeaderBytes + length + length % 2;
  }
  return {};
}

WebPBitstreamFeatures read_features(Bytes encoded) {
  check_length(encoded);
  WebPBitstreamFeatures features;
  check(WebPGetFeatures(encoded.data(), encoded.size(), &features));
  if (features.has_animation) {
    fail(ErrorKind::kBadSample,
         "the WebP file is an animation, which is not supported: save one frame as a still image");
  }
  return features;
}

}  // namespace

ImageFacts WebpDecoder::read_facts(Bytes encoded) {
  const WebPBitstreamFeatures features = read_features(encoded);
  return {.codec = Codec::kWebp,
          .width = features.width,
          .height = features.height,
          .components = features.has_alpha ? 4 : 3,
          .bits_per_component = 8,
          .orientation = exif_orientation(find_exif(encoded))};
}

ImageView WebpDecoder::decode_rgb(Bytes encoded, const ImageFacts& facts, Rect window) {
  const WebPBitstreamFeatures features = read_features(encoded);
  check_decode_request(facts, features.width, features.height, window);

  WebPDecoderConfig config;
  if (!WebPInitDecoderConfig(&config)) fail(ErrorKind::kUsage, "the installed libwebp is older than its headers");
  const std::size_t row_bytes = std::size_t{3} * static_cast<std::size_t>(facts.width);
  const std::size_t size = row_bytes * static_cast<std::size_t>(facts.height);
  config.output.colorspace = MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA = {.rgba = pixels_.bytes(size), .stride = static_cast<int>(row_bytes), .size = size};
  const VP8StatusCode status = WebPDecode(encoded.data(), encoded.size(), &config);
  const std::uint8_t* const pixels = config.output.u.RGBA.rgba;
  WebPFreeDecBuffer(&config.output);
  check(status);
  return interleaved_view(pixels, facts.width, facts.height, 3).crop(window);
}

}  // namespace stoker
