// Planes compared.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "stoker/tensor/image.h"
#include "stoker/tensor/planes.h"

namespace stoker {

/// Where two versions of a component differ within what both hold; empty if they do not.
inline std::string plane_difference(const Plane& got, const Plane& want) {
  if (got.across != want.across || got.down != want.down || got.whole_width != want.whole_width ||
      got.whole_height != want.whole_height) {
    return fmt::format("sizes: {} x {}, {} x {}", got.whole_width, got.whole_height, got.across, got.down);
  }
  for (int y = std::max(got.y, want.y); y < std::min(got.y + got.height, want.y + want.height); ++y) {
    for (int x = std::max(got.x, want.x); x < std::min(got.x + got.width, want.x + want.width); ++x) {
      if (*got.at(x, y) != *want.at(x, y)) {
        return fmt::format("at ({}, {}): {} instead of {}", x, y, *got.at(x, y), *want.at(x, y));
      }
    }
  }
  return {};
}

inline std::string planes_difference(const Planes& got, const Planes& want) {
  if (got.count != want.count) return fmt::format("{} planes instead of {}", got.count, want.count);
  for (std::size_t c = 0; c < static_cast<std::size_t>(got.count); ++c) {
    const std::string difference = plane_difference(got.plane[c], want.plane[c]);
    if (!difference.empty()) return fmt::format("plane {}: {}", c, difference);
  }
  return {};
}

/// Whether a component holds what interpolation at the window's pixels reads.
inline bool covers(const Plane& plane, Rect window) {
  const int beside_x = plane.smooth && plane.across == 2 ? 1 : 0, beside_y = plane.smooth && plane.down == 2 ? 1 : 0;
  const int left = std::max(0, window.x / plane.across - beside_x), top = std::max(0, window.y / plane.down - beside_y);
  const int right = std::min(plane.whole_width, (window.x + window.width - 1) / plane.across + beside_x + 1);
  const int bottom = std::min(plane.whole_height, (window.y + window.height - 1) / plane.down + beside_y + 1);
  return plane.x <= left && plane.y <= top && plane.x + plane.width >= right && plane.y + plane.height >= bottom;
}

inline bool covers(const Planes& planes, Rect window) {
  bool all = true;
  for (std::size_t c = 0; c < static_cast<std::size_t>(planes.count); ++c) all = all && covers(planes.plane[c], window);
  return all;
}

}  // namespace stoker
