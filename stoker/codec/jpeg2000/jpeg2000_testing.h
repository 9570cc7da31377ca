// JPEG 2000 files for tests, by openjpeg, and the RGB pixels that the lossless ones stand for.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "stoker/tensor/image_testing.h"

namespace stoker {

struct TestJpeg2000 {
  std::string name;
  int width = 37, height = 23, components = 3, bits = 8;
  bool boxed = true;  // a JP2 file, not a bare codestream
  bool lossy = false;
  int tile = 0;  // the side of tiles; 0: one
  int resolutions = 4, layers = 1, progression = 0;
  int precinct = 0, block = 64;
  bool is_signed = false;
  int chroma = 1;         // pixels a side that share a sample of the second and third component
  int left = 0, top = 0;  // where the image lies on its grid
};

/// Names the file in GoogleTest's output.
inline void PrintTo(const TestJpeg2000& image, std::ostream* out) { *out << image.name; }

struct EncodedJpeg2000 {
  std::vector<std::uint8_t> bytes;
  TestImage rgb;  // of a file that is neither lossy nor has coarse chroma
};

/// Random samples.
EncodedJpeg2000 make_test_jpeg2000(const TestJpeg2000& options, unsigned seed = 1);

}  // namespace stoker
