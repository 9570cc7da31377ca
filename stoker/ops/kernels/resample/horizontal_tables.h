// The taps of the horizontal axis rearranged for the kernels. Two forms: narrow, where four neighbouring outputs find
// all of a tap's source columns in 16 bytes, so that one shuffle brings them together; and wide, for strong reductions,
// where each output is a dot product along its many taps.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/ops/taps.h"
#include "stoker/tensor/scratch.h"

namespace stoker {

/// Vectors come in twos. Lane t of 128-bit block b of vector j of a two holds the output
///   begin + 2 * lanes * (number of the two) + 8 * b + 4 * j + t,
/// so that packing both vectors to 16 bits, which works within blocks, puts the outputs in their order.
struct NarrowTable {
  int vectors = 0;                         // even
  int pairs = 0;                           // of taps, for every output
  const std::int32_t* base = nullptr;      // per block: the column of the line where its 16 bytes start
  const std::uint8_t* shuffles = nullptr;  // per vector: where taps 0 and 1 lie within the 16 bytes; then taps 2 and 3
  const std::int16_t* weights = nullptr;   // per vector and pair of taps: high halves, then low halves
};

struct WideTable {
  static constexpr int kChunk = 16;  // taps are padded with zero weights to a multiple of this
  int outputs = 0;
  int taps = 0;
  const std::int32_t* first = nullptr;    // per output: column of the line
  const std::int16_t* weights = nullptr;  // per output: high halves, then low halves
};

/// Builds whichever form fits outputs begin .. end - 1 of the taps (none of them padding). Columns count from
/// taps.source_begin. The tables live in memory of their own, used again for the next image.
class HorizontalTables {
 public:
  void build(const AxisTaps& taps, int begin, int end, int lanes);

  bool is_narrow() const { return is_narrow_; }
  const NarrowTable& narrow() const { return narrow_; }
  const WideTable& wide() const { return wide_; }
  /// How far beyond the last source column the kernel reads (what it reads there has weight 0).
  std::size_t overread() const { return overread_; }

 private:
  void build_narrow(const AxisTaps& taps, int begin, int end, int lanes);
  void build_wide(const AxisTaps& taps, int begin, int end);

  bool is_narrow_ = true;
  NarrowTable narrow_;
  WideTable wide_;
  std::size_t overread_ = 0;
  Scratch memory_;
};

}  // namespace stoker
