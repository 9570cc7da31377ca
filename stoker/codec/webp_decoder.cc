#include "stoker/codec/webp_decoder.h"

#include <webp/decode.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "stoker/base/error.h"
#include "stoker/base/little_endian.h"
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

std::size_t u32_at(Bytes bytes, std::size_t at) { return load_little_endian<std::uint32_t>(bytes.data() + at); }

// Throws unless the file is as long as its first header says.
void check_length(Bytes encoded) {
  if (encoded.size() < kRiffHeaderBytes) check(VP8_STATUS_NOT_ENOUGH_DATA);
  if (u32_at(encoded, 4) > encoded.size() - kChunkHeaderBytes) check(VP8_STATUS_NOT_ENOUGH_DATA);
}

/// What the first chunk of that name holds; extended files have several, in any order. Empty without one.
Bytes find_chunk(Bytes encoded, std::string_view name) {
  std::size_t at = kRiffHeaderBytes;
  while (at <= encoded.size() && encoded.size() - at >= kChunkHeaderBytes) {
    const std::size_t length = u32_at(encoded, at + 4);
    if (length > encoded.size() - at - kChunkHeaderBytes) return {};
    if (as_text(encoded.subspan(at, 4)) == name) return encoded.subspan(at + kChunkHeaderBytes, length);
    at += kChunkHeaderBytes + length + length % 2;
  }
  return {};
}

WebPBitstreamFeatures features_of(Bytes encoded) {
  WebPBitstreamFeatures features;
  check(WebPGetFeatures(encoded.data(), encoded.size(), &features));
  return features;
}

/// What is to be decoded, and where it lies in the picture.
struct Frame {
  Bytes encoded;
  int x = 0, y = 0;
  int width = 0, height = 0;
};

/// The image itself, or the first frame of an animation, as it is shown: on a canvas of zeros, as in Pillow.
Frame first_frame(Bytes encoded, const WebPBitstreamFeatures& canvas) {
  if (!canvas.has_animation) return {encoded, 0, 0, canvas.width, canvas.height};
  constexpr std::size_t kFrameHeaderBytes = 16;
  const Bytes chunk = find_chunk(encoded, "ANMF");
  if (chunk.size() < kFrameHeaderBytes) fail(ErrorKind::kBadSample, "the WebP animation has no frame");
  const auto u24_at = [&](std::size_t at) { return chunk[at] | chunk[at + 1] << 8 | chunk[at + 2] << 16; };
  Frame frame{chunk.subspan(kFrameHeaderBytes), 2 * u24_at(0), 2 * u24_at(3), 1 + u24_at(6), 1 + u24_at(9)};
  const WebPBitstreamFeatures features = features_of(frame.encoded);
  const bool is_inside = frame.width <= canvas.width - frame.x && frame.height <= canvas.height - frame.y;
  if (!is_inside || features.width != frame.width || features.height != frame.height || features.has_animation) {
    fail(ErrorKind::kBadSample, "the first frame of the WebP animation is not inside its canvas");
  }
  return frame;
}

WebPBitstreamFeatures read_features(Bytes encoded) {
  check_length(encoded);
  return features_of(encoded);
}

}  // namespace

ImageFacts WebpDecoder::read_facts(Bytes encoded) {
  const WebPBitstreamFeatures features = read_features(encoded);
  first_frame(encoded, features);
  return {.codec = Codec::kWebp,
          .width = features.width,
          .height = features.height,
          .components = features.has_alpha ? 4 : 3,
          .bits_per_component = 8,
          .orientation = exif_orientation(find_chunk(encoded, "EXIF"))};
}

ImageView WebpDecoder::decode_rgb(Bytes encoded, const ImageFacts& facts, Rect window, Bytes) {
  const WebPBitstreamFeatures features = read_features(encoded);
  check_decode_request(facts, features.width, features.height, window);

  WebPDecoderConfig config;
  if (!WebPInitDecoderConfig(&config)) fail(ErrorKind::kUsage, "the installed libwebp is older than its headers");
  const Frame frame = first_frame(encoded, features);
  const std::size_t row_bytes = std::size_t{3} * static_cast<std::size_t>(facts.width);
  const std::size_t size = row_bytes * static_cast<std::size_t>(facts.height);
  std::uint8_t* const pixels = pixels_.bytes(size);
  if (features.has_animation) std::fill_n(pixels, size, std::uint8_t{0});
  const std::size_t begin =
      row_bytes * static_cast<std::size_t>(frame.y) + std::size_t{3} * static_cast<std::size_t>(frame.x);
  config.output.colorspace = MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA = {.rgba = pixels + begin, .stride = static_cast<int>(row_bytes), .size = size - begin};
  const VP8StatusCode status = WebPDecode(frame.encoded.data(), frame.encoded.size(), &config);
  WebPFreeDecBuffer(&config.output);
  check(status);
  return interleaved_view(pixels, facts.width, facts.height, 3).crop(window);
}

}  // namespace stoker
