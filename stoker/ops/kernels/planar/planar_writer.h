// Puts rows of 8-bit planes into a finished tensor: the colour step, the cast and the layout of planar mode.
#pragma once

#include <cstdint>

#include "stoker/ops/kernels/planar/planar_kernels.h"
#include "stoker/ops/planar_color.h"
#include "stoker/tensor/scratch.h"

namespace stoker {

class PlanarWriter {
 public:
  /// `out` has height x width x 3 elements of format.dtype. finish() needs `apart`, memory of its own. Throws kUsage
  /// for a dtype that images do not have.
  PlanarWriter(const ColorMap& color, TensorFormat format, int width, int height, std::uint8_t* out,
               Scratch* apart = nullptr);

  /// Pixels x .. x + count - 1 of row y, from Y, Cb and Cr; or from Y alone, where the others are null.
  void write(const std::uint8_t* const* planes, int x, int y, int count);

  /// Whether PlanarKernels::finish can be used: slots are red, green and blue.
  bool takes_slots() const { return slots_.ordered; }
  /// A job whose color and element type are filled in, to live no longer than the writer.
  PlanarFinish finish_job() const;
  /// Does the job for its rows from pixel x of row y on.
  void finish(PlanarFinish& job, int x, int y);

 private:
  static constexpr int kChunk = 256;  // pixels interleaved at a time

  std::uint8_t* slot_element(std::size_t slot, int x, int y) const;

  const PlanarKernels& kernels_;
  TensorFormat format_;
  std::size_t width_, height_, element_size_;
  std::uint8_t* out_;
  PlanarColorSlots slots_;
  std::size_t channel_of_[ColorMap::kChannels];  // by slot
  Scratch* apart_;                               // rows of channels before they are interleaved
};

}  // namespace stoker
