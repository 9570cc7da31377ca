// Sampling maps for tests of geometry.
#pragma once

#include "stoker/ops/sampling_map.h"

namespace stoker {

/// All of the source, stretched.
inline AxisMap resized(int source, int target) {
  AxisMap axis = AxisMap::identity(source);
  axis.target = axis.length = target;
  axis.resampled = true;
  return axis;
}

inline SamplingMap map_of(const AxisMap& x, const AxisMap& y, Filter filter) {
  SamplingMap map;
  map.x = x;
  map.y = y;
  map.filter = filter;
  map.fill = {200, 13, 77};
  return map;
}

}  // namespace stoker
