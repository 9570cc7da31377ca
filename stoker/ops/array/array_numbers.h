// Numbers of arrays as they are stored, of any type and byte order, and as outputs hold them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "stoker/tensor/dtype.h"

namespace stoker {

/// Some of an array, one every `stride` bytes.
struct StoredNumbers {
  const std::uint8_t* first = nullptr;
  std::uint64_t stride = 0;
  std::size_t count = 0;
  DType dtype = DType::kF32;
  bool is_big_endian = false;
};

/// Each rounded once to float32.
void load_floats(const StoredNumbers& stored, float* to);
/// Of the type `dtype`, f32, f16 or bf16, each rounded once more; at any address.
void store_floats(const float* values, std::size_t count, DType dtype, std::uint8_t* to);

/// Of any type, at any address. Whole numbers stay what they are; where floats become whole numbers, they must be; to
/// f16 and bf16 the way leads through float32. Returns a number that the type does not have, if there is one.
std::optional<double> convert_numbers(const StoredNumbers& stored, DType dtype, std::uint8_t* to);

}  // namespace stoker
