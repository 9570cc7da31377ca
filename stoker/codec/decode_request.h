// Checks that every decoder makes before it decodes: facts and windows may come from an index that does not fit the
// bytes.
#pragma once

#include "stoker/tensor/image.h"
#include "stoker/tensor/image_facts.h"

namespace stoker {

/// Throws kBadSample if the header's size is not what the facts say, kUsage if the window is empty or leaves the image.
void check_decode_request(const ImageFacts& facts, int header_width, int header_height, Rect window);

}  // namespace stoker
