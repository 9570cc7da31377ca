// The meaning of every step on a picture: short scalar functions that the reference executor and the device's kernel
// call. The CPU's kernels make the same bits.
#pragma once

#include "stoker/ops/picture/linear_meaning.h"
#include "stoker/ops/picture/picture_pass.h"

namespace stoker {

STOKER_HOST_DEVICE inline void invert_pixel(const PicturePass& pass, int x, int y) {
  for (int c = 0; c < 3; ++c) pass.put(x, y, c, static_cast<std::uint8_t>(255 - pass.at(x, y, c)));
}

/// Computes one unit of a pass: the square of pixels (PictureTraits::unit) whose first one is this.
STOKER_HOST_DEVICE inline void compute_unit(const PicturePass& pass, int x, int y) {
  switch (pass.steps->kind) {
    case PictureKind::kAffine: return linear_pixel(pass, x, y);
    case PictureKind::kInvert: return invert_pixel(pass, x, y);
  }
}

/// Derives a channel's part of the facts from the statistics that the pass asks for.
STOKER_HOST_DEVICE inline void find_facts(const PicturePass& pass, const PictureStatistics&, int /*channel*/) {
  switch (pass.steps->kind) {
    case PictureKind::kAffine:
    case PictureKind::kInvert: return;
  }
}

}  // namespace stoker
