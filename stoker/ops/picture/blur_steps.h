// The two steps of a Gaussian blur, for the operators that blur.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/ops/picture/picture_step.h"

namespace stoker {

/// Bytes of a pixel that the first step passes on to the second.
inline constexpr std::size_t kBlurWorkOfPixel = 3 * sizeof(std::int16_t);

/// Each radius is 0 to GaussianTaps::kRadiusMax.
void add_gaussian_blur(int radius_x, int radius_y, double sigma, PictureSteps& steps);

}  // namespace stoker
