// The meaning of the colour family's operators. Adjacent ones compose, in double precision, to one ColorMap.
#pragma once

#include <array>

#include "stoker/ops/color_map.h"
#include "stoker/ops/operator_call.h"

namespace stoker {

/// The composition under way: output = scale * input[from] + bias, by output channel.
struct ColorChain {
  std::array<int, ColorMap::kChannels> from{0, 1, 2};
  std::array<double, ColorMap::kChannels> scale{1, 1, 1};
  std::array<double, ColorMap::kChannels> bias{0, 0, 0};
  bool computes = false;  // some operator computes values, be they the same: they are numbers then, no longer bytes

  /// Rounded to what kernels apply.
  ColorMap map() const;
};

// One function per operator, for the operator table; the calls have been checked against it.
void apply_normalize(const OperatorCall& call, ColorChain& chain);
void apply_channel_order(const OperatorCall& call, ColorChain& chain);

}  // namespace stoker
