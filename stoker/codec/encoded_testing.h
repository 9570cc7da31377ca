// Encoded images for tests, made from a seed.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/codec/image_encoder.h"

namespace stoker {

/// Interleaved pixels: gradients with noise on them, so that neighbours differ and compression keeps something.
std::vector<std::uint8_t> noisy_pixels(int width, int height, int channels, std::uint64_t seed);

std::vector<std::uint8_t> noisy_jpeg(int width, int height, std::uint64_t seed, const JpegEncodeOptions& options = {},
                                     int channels = 3);
std::vector<std::uint8_t> noisy_png(int width, int height, std::uint64_t seed, int channels = 3);
/// Lossless, RGB.
std::vector<std::uint8_t> noisy_webp(int width, int height, std::uint64_t seed);
/// 24 bits per pixel.
std::vector<std::uint8_t> noisy_bmp(int width, int height, std::uint64_t seed);
/// Binary, RGB of 8 bits.
std::vector<std::uint8_t> noisy_pnm(int width, int height, std::uint64_t seed);
/// With 256 colours.
std::vector<std::uint8_t> noisy_gif(int width, int height, std::uint64_t seed);

/// RGB in strips of eight rows, by Deflate.
std::vector<std::uint8_t> noisy_tiff(int width, int height, unsigned seed);

/// The frame of a GIF: indices of the palette, red, green and blue in turn; where it lies on the screen; and the
/// transparent colour, if it has one.
struct TestGif {
  int width = 0, height = 0;
  std::vector<std::uint8_t> palette, indices;
  int left = 0, top = 0, screen_width = 0, screen_height = 0;  // a screen of the frame's size by default
  bool interlaced = false, own_palette = false;
  int transparent = -1;
};
/// By giflib.
std::vector<std::uint8_t> make_gif(const TestGif& image);

}  // namespace stoker
