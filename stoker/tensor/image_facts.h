// What is known about an encoded image without decoding it: read from its header, or remembered by an index.
#pragma once

#include <cstdint>
#include <string_view>

namespace stoker {

enum class Codec : std::uint8_t { kUnknown, kJpeg, kPng, kWebp };

/// "jpeg", "png", "webp"; "unknown" otherwise.
constexpr std::string_view to_string(Codec codec) {
  switch (codec) {
    case Codec::kJpeg: return "jpeg";
    case Codec::kPng: return "png";
    case Codec::kWebp: return "webp";
    case Codec::kUnknown: break;
  }
  return "unknown";
}

/// As Exif numbers them: 1 upright; 2..8 the mirrored and rotated ones. 5..8 swap width and height.
using Orientation = std::uint8_t;

struct ImageFacts {
  Codec codec = Codec::kUnknown;
  int width = 0, height = 0;  // as stored, before the orientation is applied
  int components = 0;         // as stored: 1 grey, 2 grey + alpha, 3 colour (or a palette), 4 CMYK or colour + alpha
  int bits_per_component = 8;
  Orientation orientation = 1;
};

}  // namespace stoker
