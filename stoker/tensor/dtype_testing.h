// All types of elements, and what their elements say, for tests.
#pragma once

#include <cstring>
#include <iterator>

#include "stoker/tensor/dtype.h"
#include "stoker/tensor/rounding.h"

namespace stoker {

inline constexpr DType kAllDTypes[] = {DType::kU8,  DType::kI64, DType::kF16, DType::kBF16, DType::kF32,
                                       DType::kF64, DType::kI8,  DType::kI16, DType::kI32,  DType::kU16,
                                       DType::kU32, DType::kU64, DType::kBool};
static_assert(std::size(kAllDTypes) == static_cast<std::size_t>(DType::kBool) + 1);

template <typename Element>
double loaded_element(const std::uint8_t* bytes) {
  Element element;
  std::memcpy(&element, bytes, sizeof(element));
  return static_cast<double>(element);
}

/// The value of the element that these bytes are.
inline double element_value(DType dtype, const std::uint8_t* bytes) {
  switch (dtype) {
    case DType::kU8: return loaded_element<std::uint8_t>(bytes);
    case DType::kI64: return loaded_element<std::int64_t>(bytes);
    case DType::kF16: return f32_from_f16(static_cast<std::uint16_t>(loaded_element<std::uint16_t>(bytes)));
    case DType::kBF16: return f32_from_bf16(static_cast<std::uint16_t>(loaded_element<std::uint16_t>(bytes)));
    case DType::kF32: return loaded_element<float>(bytes);
    case DType::kF64: return loaded_element<double>(bytes);
    case DType::kI8: return loaded_element<std::int8_t>(bytes);
    case DType::kI16: return loaded_element<std::int16_t>(bytes);
    case DType::kI32: return loaded_element<std::int32_t>(bytes);
    case DType::kU16: return loaded_element<std::uint16_t>(bytes);
    case DType::kU32: return loaded_element<std::uint32_t>(bytes);
    case DType::kU64: return loaded_element<std::uint64_t>(bytes);
    case DType::kBool: return loaded_element<bool>(bytes);
  }
  return 0;
}

}  // namespace stoker
