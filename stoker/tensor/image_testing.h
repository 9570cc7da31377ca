// Images for tests: made from a seed, compared by pixels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/tensor/image.h"

namespace stoker {

/// Interleaved pixels that own themselves.
struct TestImage {
  int width = 0, height = 0, channels = 3;
  std::vector<std::uint8_t> pixels;

  ImageView view() const { return interleaved_view(pixels.data(), width, height, channels); }
};

/// Gradients, hard edges and noise, so that every coefficient, chroma sample and row differs from its neighbours.
TestImage make_test_image(int width, int height, int channels, unsigned seed = 1);

TestImage copy_image(ImageView view);

/// Empty if the views are equal, else where they first differ.
std::string first_difference(ImageView got, ImageView want);

/// Windows of an image worth trying: every column offset, every row offset, at each three of seven sizes in turn.
std::vector<Rect> sweep_windows(int width, int height);

}  // namespace stoker
