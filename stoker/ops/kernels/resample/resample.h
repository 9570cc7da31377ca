// The geometry family's kernel: Pillow's two-pass integer resampling (8 bits between the passes, of which either may
// come first), bit for bit, on every instruction set; alone, or fused with the colour family so that the resized image
// is never stored.
#pragma once

#include "stoker/ops/color_map.h"
#include "stoker/ops/kernels/resample/horizontal_pass.h"
#include "stoker/ops/kernels/resample/resample_source.h"
#include "stoker/ops/kernels/resample/vertical_pass.h"
#include "stoker/ops/pass_order.h"
#include "stoker/ops/taps.h"
#include "stoker/tensor/image.h"
#include "stoker/tensor/scratch.h"

namespace stoker {

/// One per worker: it keeps its memory from call to call. The same bits on every instruction set.
class Resampler {
 public:
  /// Writes the resampled 8-bit pixels. `out` is taps_x.outputs x taps_y.outputs with the source's channels, of any
  /// strides; padding gets `fill` by channel.
  void resample(const ResampleSource& source, const AxisTaps& taps_x, const AxisTaps& taps_y,
                const std::array<std::uint8_t, 3>& fill, MutableImageView out,
                PassOrder order = PassOrder::kHorizontalFirst);

  /// resample() of three channels followed by convert_pixels(), row by row: the same bits, less memory traffic.
  void resample_converted(const ResampleSource& source, const AxisTaps& taps_x, const AxisTaps& taps_y,
                          const std::array<std::uint8_t, 3>& fill, const ColorMap& color, TensorFormat format,
                          std::uint8_t* out, PassOrder order = PassOrder::kHorizontalFirst);

 private:
  template <typename Sink>
  void run(const ResampleSource& source, const AxisTaps& taps_x, const AxisTaps& taps_y,
           const std::array<std::uint8_t, 3>& fill, PassOrder order, const Sink& write_planes);
  void start_vertical_first(const ResampleSource& source, const AxisTaps& taps_x, const AxisTaps& taps_y, int begin,
                            int end);
  const std::uint8_t* finished_row(int output, PassOrder order);

  HorizontalPass horizontal_;
  VerticalPass vertical_;
  Scratch padding_;
  // Vertical first: source rows as they are, and one finished row of them, which the horizontal pass reads.
  HorizontalPass columns_;
  AxisTaps columns_taps_;
  ResampleSource squeezed_;
};

}  // namespace stoker
