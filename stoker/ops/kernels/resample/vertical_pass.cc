#include "stoker/ops/kernels/resample/vertical_pass.h"

namespace stoker {

void VerticalPass::start(HorizontalPass& rows, const AxisTaps& taps) {
  rows_ = &rows;
  taps_ = &taps;
  kernels_ = &row_kernels();
}

const std::uint8_t* VerticalPass::row(int output) {
  const int first = taps_->first[static_cast<std::size_t>(output)];
  const auto weights = taps_->weights_of(output);
  const std::size_t count = weights.size(), pairs = (count + 1) / 2;
  if (count == 1 && weights[0] == std::int32_t{1} << kTapBits) return rows_->row(first);

  auto* inputs = inputs_.array<const std::uint8_t*>(2 * pairs);
  auto* halves = pairs_.array<WeightPair>(pairs);
  for (std::size_t k = 0; k < 2 * pairs; ++k) {
    const bool used = k < count;  // an odd count repeats its last row with weight 0
    inputs[k] = used ? rows_->row(first + static_cast<int>(k)) : inputs[k - 1];
    halves[k / 2].high[k % 2] = used ? high_weight(weights[k]) : std::int16_t{0};
    halves[k / 2].low[k % 2] = used ? low_weight(weights[k]) : std::int16_t{0};
  }
  std::uint8_t* out = line_.bytes(rows_->row_bytes() + kRowSlack);
  kernels_->vertical(inputs, halves, static_cast<int>(pairs), rows_->row_bytes(), out);
  return out;
}

}  // namespace stoker
