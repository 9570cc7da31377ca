// The pass along y: rows as weighted sums of those that a HorizontalPass makes.
#pragma once

#include <cstdint>

#include "stoker/ops/kernels/resample/horizontal_pass.h"
#include "stoker/ops/kernels/resample/row_kernels.h"
#include "stoker/ops/taps.h"
#include "stoker/tensor/scratch.h"

namespace stoker {

class VerticalPass {
 public:
  /// `rows` (started with at least taps.taps_max rows kept) and `taps` must outlive the use of row().
  void start(HorizontalPass& rows, const AxisTaps& taps);

  /// The finished row of an output that is not padding, in planes rows.plane_stride() apart; valid until the next call.
  const std::uint8_t* row(int output);

 private:
  HorizontalPass* rows_ = nullptr;
  const AxisTaps* taps_ = nullptr;
  const RowKernels* kernels_ = nullptr;
  Scratch line_, inputs_, pairs_;
};

}  // namespace stoker
