// The SIMD code of planar mode as a table of functions per instruction set, and the tables that they read. Plain C++
// code above this calls them (planar_resample.cc, planar_writer.cc).
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/ops/planar_grid.h"
#include "stoker/tensor/dtype.h"

namespace stoker {

/// The weights of a vertical pass, two rows at a time: byte 0 (of 8-bit weights) or the lower half (of 14-bit ones) is
/// that of the first row. A weight of 256 is 255 and 1 on one row.
struct PlanarRowTable {
  const std::int32_t* first;   // by output: the first row
  const std::int32_t* taps;    // how many rows; the last one of an odd number is its own partner
  const std::uint32_t* pairs;  // by output, pairs_max of them
  int pairs_max;
};

/// The rows of a plane that are held, from the first column on that is wanted.
struct PlanarRows {
  const std::uint8_t* samples;  // of row `first_row`
  std::ptrdiff_t stride;
  int first_row;
};

/// The weights of a horizontal pass: 4 bytes of neighbouring samples at a time (4 samples of 8 bits, or 2 of 16), by
/// output, for outputs rounded up to a whole number of groups. A block of outputs takes its samples out of one window
/// of bytes, which moves on by 4 from step to step.
struct PlanarColumnTable {
  int outputs, steps;
  bool wide;                     // some window is too short for its block: samples are fetched one by one
  std::size_t stride;            // from one step's weights to the next one's
  const std::int32_t* base;      // by block: where the window begins, in bytes
  const std::uint32_t* shuffle;  // by output: which bytes of the window; if wide, which of the 16 bytes of 4 outputs
  const std::int32_t* offset;    // by output, in bytes; only if wide
  const std::uint32_t* weights;  // steps x stride
};

/// The colour step (PlanarColor) by slot. If `ordered` they are red, green and blue, of which red takes nothing from Cb
/// and blue nothing from Cr; else they are the output's channels.
struct PlanarColorSlots {
  bool ordered;
  float scale[3], bias[3], from_cb[3], from_cr[3], low[3], high[3];
};

/// Finished elements of a block of rows, by slot.
struct PlanarFinish {
  PlanarColumnTable table_y, table_chroma;  // Cb and Cr share theirs
  const std::uint8_t* rows[3];              // the first row of each plane
  std::size_t row_stride;
  int row_count;  // 1 .. kPlanarBlockRows
  const PlanarColorSlots* color;
  DType dtype;
  std::uint8_t* out[3];
  std::size_t out_stride;  // from one row to the next, in bytes
  bool past_caches;        // the output is read much later
};

/// Rows that are resampled together: their horizontal weights are loaded once.
constexpr int kPlanarBlockRows = 4;

/// What the set-up of bilinear weights reads and writes: PlanarAxisTaps says what. With P = ceil(support / half_pixel),
/// at most kPlanarBilinearTapsMax, there are P weights, or (P + 2) / 2 + 1 where two pixels share a sample.
struct PlanarBilinear {
  const PlanarGrid* grid;
  std::size_t stride;
  std::int32_t* first;
  std::int16_t* weights;
  int taps = 1, source_begin = 0, source_end = 0;  // found: how many taps of any output are not 0, and what they read
};
constexpr int kPlanarBilinearTapsMax = 32;

struct PlanarKernels {
  std::int64_t target;  // Highway's name of the instruction set
  int block;            // outputs of a block of PlanarColumnTable,
  int window;           // and bytes of its window

  /// 8-bit weights of outputs in [0, stride), in integers of 32 bits, that sum to 256.
  void (*bilinear)(PlanarBilinear& job);

  /// Outputs begin .. end - 1 of a vertical pass over `columns` samples; up to kPlaneSlack more are read. To 8-bit
  /// samples minus 128, or to 16-bit ones with 6 extra bits, minus 128 * 64. Whole vectors of 64 bytes are written.
  void (*rows8)(const PlanarRowTable& table, const PlanarRows& rows, std::size_t columns, int begin, int end,
                std::uint8_t* out, std::size_t out_stride);
  void (*rows16)(const PlanarRowTable& table, const PlanarRows& rows, std::size_t columns, int begin, int end,
                 std::uint8_t* out, std::size_t out_stride);

  /// The horizontal pass of a row that rows8 (or rows16) wrote, to 8-bit samples. Writes table.outputs bytes.
  void (*columns8)(const PlanarColumnTable& table, const std::uint8_t* row, std::uint8_t* out);
  void (*columns16)(const PlanarColumnTable& table, const std::uint8_t* row, std::uint8_t* out);

  /// columns8 of three planes and color, for ordered slots. Null where that is not worth its code.
  void (*finish)(const PlanarFinish& job);

  /// `count` pixels of 8-bit planes (`cb` null: grey) to elements, by slot.
  void (*color)(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr, std::size_t count,
                const PlanarColorSlots& color, DType dtype, std::uint8_t* const* out);

  /// Three rows of `count` elements of 1, 2 or 4 bytes to interleaved ones.
  void (*interleave)(const std::uint8_t* const* rows, std::size_t count, std::size_t element_size, std::uint8_t* out);
};

/// Those of the active instruction set.
const PlanarKernels& planar_kernels();

}  // namespace stoker
