// The arguments of the operators of objects: which of them are kept, by their boxes, and what else is taken of those.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/ops/box_options.h"
#include "stoker/ops/operator_call.h"

namespace stoker {

/// Of decode_keypoints.
struct PointOptions {
  std::size_t count = 0;              // of an object
  std::vector<std::size_t> mirror{};  // by point: which one it is in a mirrored picture
  bool fractions = false;             // of the output's size
};

/// Of decode_instances: where the mask of an object comes from.
enum class InstanceSource : std::uint8_t {
  kShapes,  // from outlines and runs in COCO's JSON
  kIds,     // from a picture whose pixels hold the ids of objects (MaskCodes::kIndex)
  kRgbIds,  // the same in colours (MaskCodes::kRgb)
};

struct ObjectOptions {
  BoxOptions boxes;
  PointOptions points;
  InstanceSource instances = InstanceSource::kShapes;
};

// One per operator, for the operator table. They throw kUsage for arguments that contradict each other.
void apply_decode_boxes(const OperatorCall& call, ObjectOptions& options);
void apply_box_labels(const OperatorCall& call, ObjectOptions& options);
void apply_decode_keypoints(const OperatorCall& call, ObjectOptions& options);
void apply_decode_instances(const OperatorCall& call, ObjectOptions& options);

}  // namespace stoker
