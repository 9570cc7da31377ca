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

}  // namespace stoker
