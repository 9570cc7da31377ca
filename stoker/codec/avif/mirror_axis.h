// What libavif calls the axis of a mirror: another name since 1.0, with the same values.
#pragma once

#include <avif/avif.h>

#include <cstdint>

namespace stoker {

#if AVIF_VERSION >= 1000000
constexpr std::uint8_t avifImageMirror::*kMirrorAxis = &avifImageMirror::axis;
#else
constexpr std::uint8_t avifImageMirror::*kMirrorAxis = &avifImageMirror::mode;
#endif

}  // namespace stoker
