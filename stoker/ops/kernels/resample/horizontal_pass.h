// Rows resampled along x: in the usual order the first of the two passes, made when the vertical pass asks for them and
// kept while it needs them, so that they never leave the first-level cache.
#pragma once

#include <cstdint>

#include "stoker/ops/kernels/resample/horizontal_tables.h"
#include "stoker/ops/kernels/resample/resample_source.h"
#include "stoker/ops/kernels/resample/row_kernels.h"
#include "stoker/ops/taps.h"
#include "stoker/tensor/scratch.h"

namespace stoker {

class HorizontalPass {
 public:
  /// For outputs begin .. end - 1 of the taps, none of them padding. At least `rows_kept` neighbouring rows stay valid.
  /// The source and the taps must outlive the use of row().
  void start(const ResampleSource& source, const AxisTaps& taps, int begin, int end, int rows_kept);

  /// Row y of the source, resampled: plane c starts at c * plane_stride(). Valid until a row that is rows_kept or more
  /// away is asked for. row_bytes() + kRowSlack bytes can be read.
  const std::uint8_t* row(int y);

  std::size_t plane_stride() const { return plane_stride_; }
  std::size_t row_bytes() const { return row_bytes_; }

 private:
  enum class Mode { kCopy, kPick, kNarrow, kWide };

  void make_row(int y, std::uint8_t* row);

  const ResampleSource* source_ = nullptr;
  const AxisTaps* taps_ = nullptr;
  const RowKernels* kernels_ = nullptr;
  int begin_ = 0, end_ = 0, rows_kept_ = 0;
  Mode mode_ = Mode::kCopy;
  std::size_t plane_stride_ = 0, row_bytes_ = 0, row_stride_ = 0, line_stride_ = 0;
  HorizontalTables tables_;
  Scratch rows_, kept_, line_;
  std::uint8_t* ring_ = nullptr;         // rows_kept_ rows: source row y stands in y % rows_kept_
  std::int32_t* in_slot_ = nullptr;      // which source row each slot of the ring holds; -1: none
  std::uint8_t* source_line_ = nullptr;  // one source row as planes
};

}  // namespace stoker
