// Arrays as numpy writes them, for tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/bytes.h"

namespace stoker {

struct NpyOfTest {
  std::string_view type = "<f4";
  std::string_view shape = "(2, 3)";
  bool is_column_major = false;
};

/// A file of such an array, with these bytes of numbers.
std::vector<std::uint8_t> npy_file(const NpyOfTest& array, Bytes numbers);

/// So many bytes, each of which differs from those around it.
std::vector<std::uint8_t> uneven_bytes(std::size_t count, std::uint64_t seed);

}  // namespace stoker
