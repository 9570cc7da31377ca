// The numbers that the pixels of a mask are.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stoker {

/// Row by row without padding.
struct MaskPixels {
  int width = 0, height = 0;
  int bytes = 1;  // of a number: 1, 2 or 4; or 8, which alone have a sign
  const std::uint8_t* numbers = nullptr;

  /// Calls `use` with the first number of all, by its type.
  template <typename Use>
  auto visit(const Use& use) const {
    switch (bytes) {
      case 1: return use(numbers);
      case 2: return use(reinterpret_cast<const std::uint16_t*>(numbers));
      case 4: return use(reinterpret_cast<const std::uint32_t*>(numbers));
      default: return use(reinterpret_cast<const std::int64_t*>(numbers));
    }
  }
  std::int64_t at(int x, int y) const {
    const std::ptrdiff_t pixel = static_cast<std::ptrdiff_t>(y) * width + x;
    return visit([&](const auto* first) { return static_cast<std::int64_t>(first[pixel]); });
  }
};

/// Numbers of 1, 2 or 4 bits, which lie in a byte from its high bits on.
inline void unpack_numbers(const std::uint8_t* packed, int bits, int count, std::uint8_t* out) {
  const int in_byte = 8 / bits, mask = (1 << bits) - 1;
  for (int i = 0; i < count; ++i) {
    const int shift = 8 - bits * (i % in_byte + 1);
    out[i] = static_cast<std::uint8_t>(packed[i / in_byte] >> shift & mask);
  }
}

}  // namespace stoker
