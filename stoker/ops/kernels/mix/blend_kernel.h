// The SIMD code of blending: the weighted sum of two stretches of elements.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/tensor/dtype.h"

namespace stoker {

struct BlendInputs {
  const std::uint8_t *own, *other;
  float own_weight, other_weight;
};

/// Writes `count` elements of blended() (ops/mix_element.h), rounded to their type: the same bits on every instruction
/// set. Nothing else is read or written. The output overlaps no input.
void blend(const BlendInputs& inputs, std::size_t count, DType dtype, std::uint8_t* out) noexcept;

}  // namespace stoker
