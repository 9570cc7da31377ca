// The steps of colour adjustments: Stoker's own, which join in runs, or torchvision's, step by step.
#pragma once

#include <cstdint>

#include "stoker/ops/picture/picture_step.h"

namespace stoker {

enum class AdjustmentStyle : std::uint8_t { kStoker, kTorchvision };

// Each adds one step. A factor of 1, and a hue of 0, change nothing; a hue of 1 is a whole turn.
void add_brightness(PictureSteps& steps, AdjustmentStyle style, double factor);
void add_contrast(PictureSteps& steps, AdjustmentStyle style, double factor);
void add_saturation(PictureSteps& steps, AdjustmentStyle style, double factor);
void add_hue(PictureSteps& steps, AdjustmentStyle style, double turn);

}  // namespace stoker
