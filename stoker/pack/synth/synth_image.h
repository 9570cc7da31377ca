// One image of a synthetic data set, as a pure function of (seed, index, label).
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/codec/image_encoder.h"
#include "stoker/tensor/image.h"

namespace stoker {

struct SynthImage {
  int width = 0, height = 0, channels = 0;
  std::vector<std::uint8_t> pixels;  // interleaved: RGB, or grey
  JpegEncodeOptions encoding;        // how the camera or the web site of this image would have stored it

  ImageView view() const { return interleaved_view(pixels.data(), width, height, channels); }
};

/// A scene that looks like a photograph from some distance, in the sizes and encodings that ImageNet's images have. The
/// label chooses its colours and the pattern of its subject. The same pixels on every machine.
SynthImage make_photograph(std::uint64_t seed, std::uint64_t index, std::int64_t label);

/// 32 x 32 RGB: a coloured shape of its class before a background.
SynthImage make_tiny(std::uint64_t seed, std::uint64_t index, std::int64_t label);

}  // namespace stoker
