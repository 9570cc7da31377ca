// The geometry family's kernel of planar mode: each plane is resampled straight to the target (vertically first, then
// horizontally, docs/pixels.md), alone, or fused with the colour step so that the planes are never stored.
#pragma once

#include <array>

#include "stoker/ops/color_map.h"
#include "stoker/ops/kernels/planar/planar_tables.h"
#include "stoker/ops/planar_taps.h"
#include "stoker/tensor/image.h"
#include "stoker/tensor/planes.h"
#include "stoker/tensor/scratch.h"

namespace stoker {

/// One per worker: it keeps its memory from call to call. The same bits on every instruction set. `planes` holds at
/// least taps.source(i) of each plane i, and kPlaneSlack readable bytes beyond the end of each row that is held;
/// nothing else is read.
class PlanarResampler {
 public:
  /// Writes the planes at the target's size, in the axes of the stored image: taps.channels() of them, or 3, where a
  /// grey image's Cb and Cr are 128. `out` has column_stride 1; nothing beyond its rows is touched.
  void resample(const Planes& planes, const PlanarTaps& taps, MutableImageView out);

  /// resample() followed by convert_planes(), row by row: the same bits, less memory traffic. `out` has height x width
  /// x 3 elements of format.dtype. Throws kUsage for a dtype that images do not have.
  void resample_converted(const Planes& planes, const PlanarTaps& taps, const ColorMap& color, TensorFormat format,
                          std::uint8_t* out);

 private:
  // A plane whose tables are ready.
  struct Source {
    PlanarRows rows;
    std::size_t columns;  // that the vertical pass makes
    PlanarRowTable row_table;
    PlanarColumnTable column_table;
  };
  /// Rows that the vertical pass made.
  struct Block {
    std::uint8_t* rows;
    std::size_t stride;
  };

  void start(const Planes& planes, const PlanarTaps& taps);
  Block vertical_pass(int plane, int begin, int end);
  void horizontal_pass(int plane, const Block& block, int row, std::uint8_t* out) const;
  bool chroma_shares_a_table() const;

  const PlanarKernels* kernels_ = nullptr;
  bool cubic_ = false;
  int planes_ = 0;  // 0: all is padding
  std::array<Source, 3> sources_{};
  std::array<PlanarRowTableBuilder, 3> row_tables_;
  std::array<PlanarColumnTableBuilder, 3> column_tables_;
  std::size_t row_stride_ = 0;
  Scratch rows_, line_, padding_, apart_;
};

/// Y, Cb, Cr (or Y alone: grey) to height x width x 3 elements of format.dtype at `out`, contiguous in format.layout.
/// `planes` may have any strides, as it has when Exif turns an image; rows of neighbouring samples are fast. Throws
/// kUsage for a dtype that images do not have.
void convert_planes(ImageView planes, const ColorMap& color, TensorFormat format, std::uint8_t* out);

}  // namespace stoker
