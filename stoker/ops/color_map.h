// The composition of a chain of colour operators: for each output channel an input channel and one affine map,
// float32(x) * scale + bias, the product and the sum each rounded by itself. Then the cast.
#pragma once

#include <array>

#include "stoker/tensor/dtype.h"
#include "stoker/tensor/layout.h"

namespace stoker {

struct ColorMap {
  static constexpr int kChannels = 3;

  std::array<int, kChannels> from{0, 1, 2};     // input channel of each output channel
  std::array<float, kChannels> scale{1, 1, 1};  // by output channel
  std::array<float, kChannels> bias{0, 0, 0};

  /// 8-bit values go through unchanged (only channels may be exchanged).
  bool affine_identity() const {
    return scale == std::array<float, kChannels>{1, 1, 1} && bias == std::array<float, kChannels>{0, 0, 0};
  }
};

/// How finished pixels are stored.
struct TensorFormat {
  DType dtype = DType::kF32;
  Layout layout = Layout::kNchw;
};

}  // namespace stoker
