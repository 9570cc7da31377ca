// JPEG files of every kind that libjpeg can write, and libjpeg's plain decode of whole images: what windows must equal.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/tensor/image_testing.h"

namespace stoker {

/// Whether libjpeg's inverse transform overflows here as our pixels are defined: as its code for x86 does. That for
/// NEON makes other pixels of coefficients that no encoder writes.
#ifdef __x86_64__
constexpr bool kLibjpegOverflowsAsDefined = true;
#else
constexpr bool kLibjpegOverflowsAsDefined = false;
#endif

struct TestJpeg {
  std::string name;
  int components = 3;                // 1 grey, 3 YCbCr, 4 CMYK
  int horizontal = 1, vertical = 1;  // of the first component (and of black)
  int chroma_horizontal = 1, chroma_vertical = 1;
  bool optimize = true, progressive = false, arithmetic = false;
  bool non_interleaved = false;    // a sequential scan for each component
  bool ycck = false, rgb = false;  // 4 components as YCCK; 3 components as they are
  int scans_kept = 0;              // a progressive file that ends early; 0: all scans
  int restart_interval = 0, restart_rows = 0;
  int quality = 85;
};

/// Names the file in GoogleTest's output.
inline void PrintTo(const TestJpeg& jpeg, std::ostream* out) { *out << jpeg.name; }

/// Every way of coding in every sampling, and mixtures that few files have. Their names are words.
std::vector<TestJpeg> test_jpeg_kinds();

/// `image` has as many channels as the file shall have components.
std::vector<std::uint8_t> encode_test_jpeg(const TestJpeg& options, const TestImage& image);

/// Whether libjpeg gives up on the file when asked for all of it, or finds no end of its scans, or there is no end.
bool libjpeg_gives_up(Bytes encoded);

/// The whole image by libjpeg without any shortcut, CMYK left inverted as stored (4 channels); nothing where it fails.
std::optional<TestImage> decode_whole_jpeg(Bytes encoded);

}  // namespace stoker
