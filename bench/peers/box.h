// Which part of an image is shown: what the C++ contestants cut out, and whether they mirror it.
#pragma once

#include <algorithm>

#include "stoker/ops/geometry.h"

namespace stoker {

struct Box {
  int x = 0, y = 0, width = 0, height = 0;
  bool flip = false;
};

/// Stoker's own draw, so that all contestants that take a box do the same work.
inline Box drawn_box(const Geometry& geometry, int width, int height, const SampleDraw& draw) {
  const SamplingMap map = geometry.draw({width, height}, draw);
  return {map.x.clamp_begin, map.y.clamp_begin, map.x.clamp_end - map.x.clamp_begin,
          map.y.clamp_end - map.y.clamp_begin, map.x.flip};
}

/// The box in which pixels are compared: every peer can be told it, and FFCV knows no other.
inline Box centre_box(int width, int height) {
  const int side = static_cast<int>(0.875 * std::min(width, height));
  return {(width - side) / 2, (height - side) / 2, side, side};
}

}  // namespace stoker
