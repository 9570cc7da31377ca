// The operators on pictures, step by step and pixel by pixel.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/ops/picture/picture_operator.h"

namespace stoker {

/// What the steps make of a picture: three planes, one after another.
std::vector<std::uint8_t> reference_picture(std::vector<std::uint8_t> picture, const PictureChain& chain,
                                            ImageSize size, const SampleDraw& draw);

}  // namespace stoker
