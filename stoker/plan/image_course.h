// Where an image went: what goes along with it follows.
#pragma once

#include <span>

#include "stoker/ops/geometry.h"
#include "stoker/ops/picture/picture_step.h"
#include "stoker/ops/sampling_map.h"

namespace stoker {

struct ImageCourse {
  ImageSize image;                       // as it was, upright
  SamplingMap map;                       // of the whole course, if no warps follow
  Area shown;                            // of what that makes, where the image lies; more than that, if warps follow
  ImageSize size;                        // of what came out
  std::span<const PictureStep> steps{};  // of which those that move no pixels do not matter
};

}  // namespace stoker
