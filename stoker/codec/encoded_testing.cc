#include "stoker/codec/encoded_testing.h"

#include <webp/encode.h>

#include "stoker/base/random.h"

namespace stoker {

std::vector<std::uint8_t> noisy_pixels(int width, int height, int channels, std::uint64_t seed) {
  std::vector<std::uint8_t> pixels;
  Random random(seed, 0, 0, 0);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        const int ramp = (x * (3 + c) + y * (5 - c) + static_cast<int>(seed) * 17) % 190;
        pixels.push_back(static_cast<std::uint8_t>(ramp + static_cast<int>(random.below(60))));
      }
    }
  }
  return pixels;
}

std::vector<std::uint8_t> noisy_jpeg(int width, int height, std::uint64_t seed, const JpegEncodeOptions& options,
                                     int channels) {
  const std::vector<std::uint8_t> pixels = noisy_pixels(width, height, channels, seed);
  std::vector<std::uint8_t> encoded;
  encode_jpeg(interleaved_view(pixels.data(), width, height, channels), options, encoded);
  return encoded;
}

std::vector<std::uint8_t> noisy_png(int width, int height, std::uint64_t seed, int channels) {
  const std::vector<std::uint8_t> pixels = noisy_pixels(width, height, channels, seed);
  std::vector<std::uint8_t> encoded;
  encode_png(interleaved_view(pixels.data(), width, height, channels), encoded);
  return encoded;
}

std::vector<std::uint8_t> noisy_webp(int width, int height, std::uint64_t seed) {
  const std::vector<std::uint8_t> pixels = noisy_pixels(width, height, 3, seed);
  std::uint8_t* bytes = nullptr;
  const std::size_t size = WebPEncodeLosslessRGB(pixels.data(), width, height, width * 3, &bytes);
  std::vector<std::uint8_t> encoded(bytes, bytes + size);
  WebPFree(bytes);
  return encoded;
}

}  // namespace stoker
