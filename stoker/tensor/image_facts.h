// What is known about an encoded image without decoding it: read from its header, or remembered by an index. Threads: a
// value; many may read it, one may change it.
#pragma once

#include <cstdint>
#include <string_view>

namespace stoker {

// The numbers of these enumerations stand in index files (docs/format-index.md): they never change.

enum class Codec : std::uint8_t {
  kUnknown = 0,
  kJpeg = 1,
  kPng = 2,
  kWebp = 3,
  kRaw = 4,
  kBmp = 5,
  kGif = 6,
  kTiff = 7,
  kJpeg2000 = 8,
  kAvif = 9,
  kDatum = 10,  // Caffe's pixels
  kPnm = 11,
};
inline constexpr Codec kLastCodec = Codec::kPnm;

/// "jpeg", "png", "webp", "raw", "bmp", "gif", "tiff", "jpeg2000", "avif", "datum", "pnm"; "unknown" otherwise.
constexpr std::string_view to_string(Codec codec) {
  switch (codec) {
    case Codec::kJpeg: return "jpeg";
    case Codec::kPng: return "png";
    case Codec::kWebp: return "webp";
    case Codec::kRaw: return "raw";
    case Codec::kBmp: return "bmp";
    case Codec::kGif: return "gif";
    case Codec::kTiff: return "tiff";
    case Codec::kJpeg2000: return "jpeg2000";
    case Codec::kAvif: return "avif";
    case Codec::kDatum: return "datum";
    case Codec::kPnm: return "pnm";
    case Codec::kUnknown: break;
  }
  return "unknown";
}

/// How the coefficients of a JPEG, or of those in a TIFF, are written.
enum class JpegCoding : std::uint8_t {
  kNone = 0,  // not JPEG data
  kSequential = 1,
  kSequentialScans = 2,  // a scan for each component
  kProgressive = 3,
  kArithmetic = 4,
};

/// What the components of a JPEG mean.
enum class JpegColors : std::uint8_t { kNone = 0, kGrey = 1, kYcbcr = 2, kRgb = 3, kCmyk = 4, kYcck = 5 };

/// As Exif numbers them: 1 upright; 2..8 the mirrored and rotated ones. 5..8 swap width and height.
using Orientation = std::uint8_t;

struct ImageFacts {
  Codec codec = Codec::kUnknown;
  int width = 0, height = 0;  // as stored, before the orientation is applied
  int components =
      0;  // as stored: 1 grey, 2 grey + alpha, 3 colour (or a palette), 4 CMYK or colour + alpha; more in a TIFF
  int bits_per_component = 8;
  Orientation orientation = 1;
  JpegCoding coding = JpegCoding::kNone;
  JpegColors colors = JpegColors::kNone;
  int chroma_across = 1, chroma_down = 1;  // pixels that share a sample of JPEG chroma: 2, 2 is 4:2:0

  friend bool operator==(const ImageFacts&, const ImageFacts&) = default;
};

}  // namespace stoker
