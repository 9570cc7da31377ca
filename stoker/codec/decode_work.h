// The work that decoding a window of an image takes, about, from its header: tells whether two windows are better
// decoded together.
#pragma once

#include <cstdint>

#include "stoker/tensor/image.h"
#include "stoker/tensor/image_facts.h"

namespace stoker {

/// Of ImageDecoder::decode_rgb, in units of making one pixel from what codes it, with an index's entry points or
/// without.
std::int64_t decode_rgb_work(const ImageFacts& facts, Rect window, bool has_entry_points);
/// Of ImageDecoder::decode_planes.
std::int64_t decode_planes_work(const ImageFacts& facts, Rect window, bool has_entry_points);

}  // namespace stoker
