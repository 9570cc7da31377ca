// CMYK to RGB with Pillow's rounding, so that print-shop JPEGs look the same as in Pillow.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stoker {

/// `pixels` holds `count` pixels of inverted CMYK (255 = no ink), which is how JPEG files store them; it is overwritten
/// by as many RGB pixels, packed at its start.
void inverted_cmyk_to_rgb_in_place(std::uint8_t* pixels, std::size_t count);

}  // namespace stoker
