#include "stoker/codec/avif/avif_testing.h"

#include <avif/avif.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "stoker/codec/avif/mirror_axis.h"

namespace stoker {
namespace {

void require_avif(avifResult result) {
  if (result != AVIF_RESULT_OK) std::abort();
}

/// Samples of 8 bits, or in 16.
std::vector<std::uint16_t> noise_of(const TestAvif& options, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint16_t> samples;
  const auto most = static_cast<std::uint16_t>((1u << options.bits) - 1);
  const int pixels = options.width * options.height;
  for (int i = 0; i < pixels; ++i) {
    std::uint16_t first = 0;
    for (int c = 0; c < options.channels; ++c) {
      auto sample =
          static_cast<std::uint16_t>((options.noisy ? random() : static_cast<unsigned>(i % options.width / 8)) & most);
      if (c == 0) first = sample;
      if (options.grey && c < 3) sample = first;
      if (options.premultiplied && c == 3) sample = most;
      if (options.premultiplied && i + 1 == pixels) sample = 0;  // an alpha that is full everywhere would be left out
      samples.push_back(sample);
    }
  }
  return samples;
}

}  // namespace

EncodedAvif make_test_avif(const TestAvif& options, unsigned seed) {
  EncodedAvif encoded{{}, {.width = options.width, .height = options.height, .channels = 3, .pixels = {}}};
  avifEncoder* const encoder = avifEncoderCreate();
  encoder->maxThreads = 1;
  encoder->speed = AVIF_SPEED_FASTEST;
  if (options.lossless) {
    encoder->minQuantizer = encoder->maxQuantizer = AVIF_QUANTIZER_LOSSLESS;
    encoder->minQuantizerAlpha = encoder->maxQuantizerAlpha = AVIF_QUANTIZER_LOSSLESS;
  }
  for (int frame = 0; frame < options.frames; ++frame) {
    std::vector<std::uint16_t> samples = noise_of(options, seed + static_cast<unsigned>(frame));
    const avifPixelFormat format = options.grey       ? AVIF_PIXEL_FORMAT_YUV400
                                   : options.lossless ? AVIF_PIXEL_FORMAT_YUV444
                                                      : AVIF_PIXEL_FORMAT_YUV420;
    avifImage* const image =
        avifImageCreate(static_cast<std::uint32_t>(options.width), static_cast<std::uint32_t>(options.height),
                        static_cast<std::uint32_t>(options.bits), format);
    image->yuvRange = AVIF_RANGE_FULL;
    image->matrixCoefficients =
        options.lossless && !options.grey ? AVIF_MATRIX_COEFFICIENTS_IDENTITY : AVIF_MATRIX_COEFFICIENTS_BT601;
    image->alphaPremultiplied = options.premultiplied;
    if (options.turns)
      image->transformFlags |= AVIF_TRANSFORM_IROT, image->irot.angle = static_cast<std::uint8_t>(options.turns);
    if (options.mirror >= 0)
      image->transformFlags |= AVIF_TRANSFORM_IMIR,
          image->imir.*kMirrorAxis = static_cast<std::uint8_t>(options.mirror);
    avifRGBImage rgb;
    avifRGBImageSetDefaults(&rgb, image);
    rgb.format = options.channels == 4 ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB;
    std::vector<std::uint8_t> bytes(samples.begin(), samples.end());
    rgb.pixels = options.bits == 8 ? bytes.data() : reinterpret_cast<std::uint8_t*>(samples.data());
    rgb.rowBytes = static_cast<std::uint32_t>(options.width * options.channels * (options.bits == 8 ? 1 : 2));
    require_avif(avifImageRGBToYUV(image, &rgb));
    require_avif(avifEncoderAddImage(encoder, image, 1,
                                     options.frames == 1 ? AVIF_ADD_IMAGE_FLAG_SINGLE : AVIF_ADD_IMAGE_FLAG_NONE));
    avifImageDestroy(image);
    for (std::size_t i = 0; frame == 0 && i < samples.size(); ++i) {
      if (i % static_cast<std::size_t>(options.channels) < 3) {
        encoded.rgb.pixels.push_back(static_cast<std::uint8_t>(samples[i] >> (options.bits - 8)));
      }
    }
  }
  avifRWData data = AVIF_DATA_EMPTY;
  require_avif(avifEncoderFinish(encoder, &data));
  encoded.bytes.assign(data.data, data.data + data.size);
  avifRWDataFree(&data);
  avifEncoderDestroy(encoder);
  return encoded;
}

}  // namespace stoker
