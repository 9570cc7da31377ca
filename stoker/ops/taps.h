// The weights of one axis of a resampling, as Pillow defines them: for each output, the first source column, the number
// of columns, and their integer weights of 22 fractional bits. This is the definition; kernels only apply it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stoker/ops/sampling_map.h"

namespace stoker {

constexpr int kTapBits = 22;  // Pillow: 32 - 8 - 2

/// Outputs are in stored order (flip and window already applied). Reused from sample to sample without allocating.
struct AxisTaps {
  int outputs = 0;
  int taps_max = 0;                   // weights per output in `weights`, those unused are 0
  bool identity = false;              // every output is padding or one source column of weight 1: plain copying
  int step = 0;                       // 1 or -1: no padding, and the next output is the next column or the one before
  std::vector<std::int32_t> first;    // per output: source column, counted from the image's edge; -1: padding
  std::vector<std::int32_t> count;    // per output; 0 for padding
  std::vector<std::int32_t> weights;  // outputs x taps_max

  /// The source columns that any output reads: [begin, end). Empty if all is padding.
  int source_begin = 0, source_end = 0;

  std::span<const std::int32_t> weights_of(int output) const {
    return {weights.data() + static_cast<std::size_t>(output) * static_cast<std::size_t>(taps_max),
            static_cast<std::size_t>(count[static_cast<std::size_t>(output)])};
  }
};

/// Computes the taps of an axis with the filter. (An unresampled axis has identity taps whatever the filter.)
void build_taps(const AxisMap& axis, Filter filter, AxisTaps& taps);

}  // namespace stoker
