// Integers as the index stores and hashes them: lowest byte first, at any address.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace stoker {

template <std::integral Integer>
Integer load_little_endian(const std::uint8_t* bytes) {
  std::make_unsigned_t<Integer> value = 0;
  for (std::size_t i = 0; i < sizeof(Integer); ++i) {
    value = static_cast<decltype(value)>(value | static_cast<decltype(value)>(bytes[i]) << (8 * i));
  }
  return static_cast<Integer>(value);
}

template <std::integral Integer>
void store_little_endian(std::uint8_t* bytes, Integer value) {
  const auto bits = static_cast<std::make_unsigned_t<Integer>>(value);
  for (std::size_t i = 0; i < sizeof(Integer); ++i) bytes[i] = static_cast<std::uint8_t>(bits >> (8 * i));
}

template <std::integral Integer>
void append_little_endian(std::vector<std::uint8_t>& bytes, Integer value) {
  bytes.resize(bytes.size() + sizeof(Integer));
  store_little_endian(bytes.data() + bytes.size() - sizeof(Integer), value);
}

}  // namespace stoker
