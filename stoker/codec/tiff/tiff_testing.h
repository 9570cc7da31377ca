// TIFF files for tests, by libtiff, and the RGB pixels they stand for.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "stoker/tensor/image_testing.h"

namespace stoker {

/// The numbers are those of TIFF 6.0.
struct TestTiff {
  std::string name;
  int width = 37, height = 23;
  int photometric = 2, samples = 3, bits = 8;
  int compression = 1;
  int tile = 0;            // the side of tiles; 0: strips
  int rows_per_strip = 5;  // which does not divide the height
  int planar = 1, predictor = 1, fill_order = 1;
  int extra = 0;  // what the first sample after the colours is
  int orientation = 1;
  int quality = 90;        // of JPEG
  std::string mode = "w";  // as TIFFOpen takes it: with l, b, 8
};

/// Names the file in GoogleTest's output.
inline void PrintTo(const TestTiff& tiff, std::ostream* out) { *out << tiff.name; }

struct EncodedTiff {
  std::vector<std::uint8_t> bytes;
  TestImage rgb;  // of a file that is not lossy
};

/// Random samples.
EncodedTiff make_test_tiff(const TestTiff& options, unsigned seed = 1);

/// One of every kind that is read.
std::vector<TestTiff> kinds_of_tiff();

}  // namespace stoker
