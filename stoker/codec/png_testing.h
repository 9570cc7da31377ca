// PNG files of every colour type and depth, and the RGB pixels they stand for.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "stoker/tensor/image_testing.h"

namespace stoker {

struct TestPng {
  std::string name;
  int color_type = 2;  // as the PNG standard numbers them: 0 grey, 2 RGB, 3 palette, 4 grey + alpha, 6 RGBA
  int bit_depth = 8;
  bool interlaced = false;
  bool transparent_key = false;  // a tRNS chunk
};

/// Names the file in GoogleTest's output.
inline void PrintTo(const TestPng& png, std::ostream* out) { *out << png.name; }

struct EncodedPng {
  std::vector<std::uint8_t> bytes;
  TestImage rgb;
};

/// Random samples at full depth.
EncodedPng make_test_png(const TestPng& options, int width, int height, unsigned seed = 1);

/// A chunk with its length and a valid checksum.
std::vector<std::uint8_t> png_chunk(const std::string& type, const std::vector<std::uint8_t>& data);

}  // namespace stoker
