// A mask that goes where its image goes, pixel by pixel.
#pragma once

#include "stoker/plan/mask_stage.h"

namespace stoker {

void reference_mask(const MaskOptions& options, Bytes encoded, const DecodeLimits& limits, const ImageCourse& course,
                    MutableBytes out);

}  // namespace stoker
