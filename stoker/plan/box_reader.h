// The boxes of a sample's objects, as data sets write them.
#pragma once

#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/ops/box_options.h"
#include "stoker/ops/geometry.h"

namespace stoker {

/// In pixels of the upright image, from its upper left corner.
struct LabeledBox {
  double left = 0, top = 0, right = 0, bottom = 0;
  std::int64_t label = 0;
  bool is_crowd = false;

  double width() const { return right - left; }
  double height() const { return bottom - top; }
};

/// Replaces `boxes` by those of the text, in its order. Throws kBadSample for a text that is damaged or has no such
/// boxes.
void read_boxes(const BoxOptions& options, Bytes text, ImageSize image, std::vector<LabeledBox>& boxes);

}  // namespace stoker
