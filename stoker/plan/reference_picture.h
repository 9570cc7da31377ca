// The operators on pictures, step by step and pixel by pixel.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/ops/picture/source_warp.h"

namespace stoker {

/// What the steps make of the picture that the map of `sampling` shows: three planes, one after another.
std::vector<std::uint8_t> reference_picture(std::vector<std::uint8_t> picture, const PictureChain& chain,
                                            const WarpedSampling& sampling, const SampleDraw& draw);

}  // namespace stoker
