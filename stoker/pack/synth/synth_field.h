// Fields of noise with a chosen spectrum: the raw material of the textures, edges and light of synthetic images.
#pragma once

#include <cstddef>
#include <vector>

#include "stoker/base/random.h"

namespace stoker {

/// A plane of floats, rows tightly packed.
struct SynthField {
  int width = 0, height = 0;
  std::vector<float> values;

  SynthField() = default;
  SynthField(int width_px, int height_px, float value = 0)
      : width(width_px),
        height(height_px),
        values(static_cast<std::size_t>(width_px) * static_cast<std::size_t>(height_px), value) {}
  float* row(int y) { return values.data() + static_cast<std::ptrdiff_t>(y) * width; }
  const float* row(int y) const { return values.data() + static_cast<std::ptrdiff_t>(y) * width; }
};

struct SynthNoise {
  int octaves = 6;    // the coarsest has cells of 2^(octaves - 1) pixels
  float gain = 0.8f;  // amplitude of an octave against the next coarser one; 1: amplitude falls as 1 / frequency
  int skip = 0;       // finest octaves left out: the field is smooth below 2^skip pixels
  int stretch_x = 0;  // doublings of the length along x: streaks
  float slant = 0;    // columns to the right per row
};

/// Noise of mean 0 and standard deviation 1, at least width x height; periodic along x with its own width.
/// Only additions, multiplications and square roots, each rounded by itself in a fixed order: the same bits everywhere.
SynthField make_noise(Random& random, int width, int height, const SynthNoise& noise);

}  // namespace stoker
