// Planar mode as docs/pixels.md defines it, step by step: plain loops over whole planes, in integers wide enough for
// anything. It shares nothing with ops/planar_taps.h and the kernels, which are compared with it.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/codec/plain_decode.h"
#include "stoker/ops/color_map.h"
#include "stoker/ops/sampling_map.h"

namespace stoker {

/// The planes at the size of the map's target, in the axes of the stored image: those of the source, but three for a
/// grey image that shows padding. Factors are 1, `across` and `down`.
std::vector<PlainPlane> reference_planar_geometry(const std::vector<PlainPlane>& planes, const SamplingMap& map);

/// The finished tensor of planes of one size: one of them (grey) or three.
std::vector<std::uint8_t> reference_planar_color(const std::vector<PlainPlane>& planes, const ColorMap& color,
                                                 TensorFormat format);

}  // namespace stoker
