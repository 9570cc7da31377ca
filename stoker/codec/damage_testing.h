// Kinds of damage that files suffer, and a decoder's reaction.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "stoker/codec/image_decoder.h"
#include "stoker/tensor/image_testing.h"

namespace stoker {

/// One to eight bytes changed anywhere from `first` on: bits flipped, bytes replaced, or a piece copied elsewhere.
std::vector<std::uint8_t> damaged(std::vector<std::uint8_t> encoded, std::size_t first, std::mt19937& random);

/// A file that lost, gained or changed bytes from `first` on: damage as above, a piece deleted, inserted, or of zeros,
/// a marker of any kind in the midst of it, or an end that came early.
std::vector<std::uint8_t> mangled(std::vector<std::uint8_t> encoded, std::size_t first, std::mt19937& random);

/// The window's pixels, or nothing where the decoder throws Error (anything else that is thrown is the test's failure).
/// `window` empty: the whole image.
std::optional<TestImage> try_decode(ImageDecoder& decoder, Bytes encoded, Rect window = {});

/// An encoded file that ends where the heap block ends, so that a read past it is seen by the address sanitizer.
inline std::vector<std::uint8_t> first_bytes_of(const std::vector<std::uint8_t>& encoded, std::size_t count) {
  return {encoded.begin(), encoded.begin() + static_cast<std::ptrdiff_t>(count)};
}

/// Small enough for damaged headers not to cost memory or time.
inline constexpr DecodeLimits kTestLimits{.pixels_max = 200'000, .side_max = 5'000, .bytes_max = 1 << 20};

}  // namespace stoker
