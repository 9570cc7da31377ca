// Rows of an image as planes and back: how the kernels, which work on planes, reach views of any strides.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/tensor/image.h"

namespace stoker {

/// Channel c of pixels x .. x + count - 1 of row y, to planes[c]. Nothing else is read or written.
void split_row(const ImageView& view, int x, int y, int count, std::uint8_t* const* planes);

/// The inverse.
void merge_row(const std::uint8_t* const* planes, const MutableImageView& view, int x, int y, int count);

}  // namespace stoker
