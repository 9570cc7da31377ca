// Converts the output of a recipe back into a picture that people can look at.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/plan/sample_executor.h"
#include "stoker/tensor/image.h"

namespace stoker {

/// Interleaved 8-bit RGB that owns its pixels.
struct RgbImage {
  int width = 0, height = 0;
  std::vector<std::uint8_t> pixels;

  RgbImage() = default;
  RgbImage(int w, int h) : width(w), height(h), pixels(static_cast<std::size_t>(w) * static_cast<std::size_t>(h) * 3) {}
  explicit RgbImage(ImageView view);

  ImageView view() const { return interleaved_view(pixels.data(), width, height, 3); }
  MutableImageView view() { return interleaved_view(pixels.data(), width, height, 3); }
};

/// The image output of a program with its colours undone: un-normalised, red first, whatever dtype and layout.
RgbImage displayed(const SampleOutput& output, const ImageProgram& program);

/// Shrunk (antialiased) or enlarged (by a whole factor, so that pixels stay visible) to fit a square of `side`; images
/// of other sizes are not changed.
RgbImage fitted(const RgbImage& image, int side);

}  // namespace stoker
