#include "stoker/codec/damage_testing.h"

#include <algorithm>

#include "stoker/base/error.h"

namespace stoker {

std::vector<std::uint8_t> damaged(std::vector<std::uint8_t> encoded, std::size_t first, std::mt19937& random) {
  const auto below = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
  const std::size_t changes = 1 + below(8), size = encoded.size();
  for (std::size_t i = 0; i < changes; ++i) {
    const std::size_t at = first + below(size - first);
    switch (below(4)) {
      case 0: encoded[at] = static_cast<std::uint8_t>(random()); break;
      case 1: encoded[at] = below(2) ? 0xFF : 0x00; break;
      case 2: {  // a piece of the file in the wrong place
        const std::size_t from = first + below(size - first), length = below(16);
        for (std::size_t k = 0; k < length && std::max(at, from) + k < size; ++k) encoded[at + k] = encoded[from + k];
        break;
      }
      default: encoded[at] ^= static_cast<std::uint8_t>(1 << below(8)); break;
    }
  }
  return encoded;
}

std::vector<std::uint8_t> mangled(std::vector<std::uint8_t> encoded, std::size_t first, std::mt19937& random) {
  const auto below = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
  const std::size_t from = first + below(encoded.size() - first);
  const auto at = encoded.begin() + static_cast<std::ptrdiff_t>(from);
  const auto to = at + static_cast<std::ptrdiff_t>(1 + below(std::min<std::size_t>(encoded.size() - from, 200)));
  const auto marker = static_cast<std::uint8_t>(random());
  switch (below(7)) {
    case 0: return damaged(std::move(encoded), first, random);
    case 1: encoded.erase(at, to); break;
    case 2: {
      const std::vector<std::uint8_t> piece(at, to);
      encoded.insert(encoded.begin() + static_cast<std::ptrdiff_t>(first + below(from - first + 1)), piece.begin(),
                     piece.end());
      break;
    }
    case 3: std::fill(at, to, std::uint8_t{0}); break;
    case 4: encoded.insert(at, {0xFF, marker}); break;
    case 5:
      *at = 0xFF;
      if (at + 1 != encoded.end()) at[1] = marker;
      break;
    default: encoded.erase(at, encoded.end()); break;
  }
  return encoded;
}

std::optional<TestImage> try_decode(ImageDecoder& decoder, Bytes encoded, Rect window) {
  try {
    const ImageFacts facts = decoder.read_facts(encoded);
    if (window.width == 0) window = {0, 0, facts.width, facts.height};
    return copy_image(decoder.decode_rgb(encoded, facts, window));
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace stoker
