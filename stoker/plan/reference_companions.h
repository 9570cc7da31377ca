// What goes along with an image, as the reference executor makes it: pixel by pixel, and point by point.
#pragma once

#include <span>

#include "stoker/plan/box_reader.h"
#include "stoker/plan/image_course.h"
#include "stoker/plan/mask_stage.h"
#include "stoker/plan/plan.h"

namespace stoker {

void reference_mask(const MaskOptions& options, Bytes encoded, const DecodeLimits& limits, const ImageCourse& course,
                    MutableBytes out);

/// Of the objects that are kept, x, y and visibility of each point.
void reference_keypoints(const PointOptions& options, std::span<const LabeledBox> objects,
                         std::span<const ObjectDetails> details, const ImageCourse& course, float* out);

/// Of the objects that are kept, one mask after another.
void reference_instances(InstanceSource source, std::span<const LabeledBox> objects,
                         std::span<const ObjectDetails> details, Bytes encoded, const DecodeLimits& limits,
                         const ImageCourse& course, MutableBytes out);

}  // namespace stoker
