// Mixes vectors of numbers, such as one-hot labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "stoker/ops/mix_element.h"

namespace stoker {

/// Each vector of `count` float32 numbers becomes the sum of itself and its partners, weighted by its mix: products and
/// sums are rounded by themselves, in the order of the partners.
void mix_numbers(std::span<std::uint8_t* const> vectors, std::span<const MixDraw> mixes, std::size_t count) noexcept;

}  // namespace stoker
