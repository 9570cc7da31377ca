// The batch family's kernel: mixes the finished images of a group of samples where they lie.
#pragma once

#include <cstdint>
#include <span>

#include "stoker/ops/color_map.h"
#include "stoker/ops/geometry.h"
#include "stoker/ops/mix_element.h"

namespace stoker {

/// Does to the tensors what mix_element() does to each of their elements, with the same bits. As many mixes as tensors,
/// for images of this size and three channels.
void mix_pictures(std::span<std::uint8_t* const> tensors, std::span<const MixDraw> mixes, TensorFormat format,
                  ImageSize size) noexcept;

}  // namespace stoker
