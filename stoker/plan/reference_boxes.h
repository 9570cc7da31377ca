// The boxes of a sample's objects as the reference executor moves them: corner by corner.
#pragma once

#include <vector>

#include "stoker/plan/box_reader.h"
#include "stoker/plan/image_course.h"

namespace stoker {

/// As BoxStage::run() and BoxStage::details().
std::vector<LabeledBox> reference_boxes(const BoxOptions& options, Bytes text, const ImageCourse& course,
                                        std::vector<ObjectDetails>& details);

}  // namespace stoker
