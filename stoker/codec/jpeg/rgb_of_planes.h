// RGB as libjpeg makes it of a JPEG's planes, bit for bit: its fancy upsampling of chroma and its integer color
// conversion.
#pragma once

#include <cstdint>

#include "stoker/tensor/image.h"
#include "stoker/tensor/planes.h"
#include "stoker/tensor/scratch.h"

namespace stoker {

/// Whether RgbOfPlanes makes RGB of planes of these sizes: grey, 4:4:4, 4:2:2 and 4:2:0. libjpeg upsamples other
/// mixtures, and chroma of one or two columns, in ways that few files need.
bool makes_rgb_of(const Planes& sizes);

/// Keeps its memory between images: one per thread.
class RgbOfPlanes {
 public:
  /// The window's pixels, of planes that hold the samples it needs (Planes, kPixelsBeside). Valid until the next call.
  ImageView convert(const Planes& planes, Rect window);

 private:
  Scratch rows_, pixels_;
};

}  // namespace stoker
