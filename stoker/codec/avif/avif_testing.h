// AVIF files for tests, by libavif.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/tensor/image_testing.h"

namespace stoker {

struct TestAvif {
  int width = 37, height = 23, channels = 3, bits = 8;
  bool lossless = true;  // its colours are stored as they are
  bool noisy = true;     // takes long to code
  bool grey = false, premultiplied = false;
  int turns = 0, mirror = -1;  // as libavif numbers them; -1: not mirrored
  int frames = 1;              // of a sequence, if more
};

struct EncodedAvif {
  std::vector<std::uint8_t> bytes;
  TestImage rgb;  // that was coded, in its first frame
};

EncodedAvif make_test_avif(const TestAvif& options, unsigned seed = 1);

}  // namespace stoker
