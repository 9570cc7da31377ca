// The boxes of a sample's objects, as data sets write them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/ops/box_options.h"
#include "stoker/ops/geometry.h"
#include "stoker/plan/coco_objects.h"

namespace stoker {

/// In pixels of the upright image, from its upper left corner.
struct LabeledBox {
  double left = 0, top = 0, right = 0, bottom = 0;
  std::int64_t label = 0;
  bool is_crowd = false;
  std::optional<std::int64_t> id{};  // that the data set gives it
  std::size_t number = 0;            // among the objects of its text

  double width() const { return right - left; }
  double height() const { return bottom - top; }
  /// In the floats that its sides become.
  bool has_area() const {
    return static_cast<float>(right) > static_cast<float>(left) && static_cast<float>(bottom) > static_cast<float>(top);
  }
};

/// Replaces `boxes` by those of the text, in its order. `details`, of COCO's objects alone: of all in the text, by
/// LabeledBox::number. Throws kBadSample for a text that is damaged, has no such boxes or more than kObjectsMax, and as
/// read_coco_objects().
void read_boxes(const BoxOptions& options, Bytes text, ImageSize image, std::vector<LabeledBox>& boxes,
                std::vector<ObjectDetails>* details = nullptr);

}  // namespace stoker
