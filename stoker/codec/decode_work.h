// The work that decoding a window of an image takes, about, from its header: tells whether two windows are better
// decoded together.
#pragma once

#include <cstdint>

#include "stoker/tensor/image.h"
#include "stoker/tensor/image_facts.h"

namespace stoker {

/// In units of making one pixel from decoded coefficients or rows. `by_entry_points`: as planes, and an index has the
/// image's entry points.
std::int64_t decode_work(const ImageFacts& facts, Rect window, bool by_entry_points);

}  // namespace stoker
