// The memory that decoding an image takes, from its header: images differ by a factor of a thousand.
#pragma once

#include <cstdint>

#include "stoker/tensor/image.h"
#include "stoker/tensor/image_facts.h"

namespace stoker {

/// About the most memory that a decoder takes for a window of an image, whose file has so many bytes: its pixels, and
/// what the codec's library or Stoker's own decoder holds of the whole image.
std::uint64_t decode_rgb_memory(const ImageFacts& facts, std::uint64_t encoded_bytes, Rect window);
/// The same for planes.
std::uint64_t decode_planes_memory(const ImageFacts& facts, std::uint64_t encoded_bytes, Rect window);

/// The same for ImageDecoder::decodes_cleanly.
std::uint64_t decode_cleanly_memory(const ImageFacts& facts, std::uint64_t encoded_bytes);

}  // namespace stoker
