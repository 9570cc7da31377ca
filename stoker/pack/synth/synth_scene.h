// Composes the scene of a synthetic image: background, ground, clutter, a subject of the image's class.
#pragma once

#include <cstdint>

#include "stoker/base/random.h"
#include "stoker/pack/synth/synth_leaf.h"

namespace stoker {

/// Draws everything about the scene from `random`.
SynthCanvas paint_scene(Random& random, int width, int height, std::int64_t label);

}  // namespace stoker
