#include "stoker/tensor/dtype.h"

#include <bit>
#include <cmath>

#include "stoker/base/error.h"

namespace stoker {
namespace {

struct Row {
  DType dtype;
  std::string_view name;
  std::size_t size;
};
constexpr Row kRows[] = {
    {DType::kU8, "u8", 1},     {DType::kI64, "i64", 8}, {DType::kF16, "f16", 2},
    {DType::kBF16, "bf16", 2}, {DType::kF32, "f32", 4},
};

const Row& row_of(DType dtype) { return kRows[static_cast<std::size_t>(dtype)]; }

}  // namespace

std::size_t size_of(DType dtype) { return row_of(dtype).size; }

std::string_view to_string(DType dtype) { return row_of(dtype).name; }

DType parse_dtype(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.dtype;
  }
  fail(ErrorKind::kUsage, "'{}' is not an element type; use u8, f16, bf16 or f32", name);
}

std::uint16_t bf16_from_f32(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

std::uint16_t f16_from_f32(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const std::uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return static_cast<std::uint16_t>(sign | 0x7E00 | (magnitude >> 13 & 0x3FF));
  if (magnitude >= 0x47800000) return static_cast<std::uint16_t>(sign | 0x7C00);  // 2^16 and more, infinity
  if (magnitude < 0x38800000) {  // below 2^-14: a subnormal half counts units of 2^-24
    const float units = std::bit_cast<float>(magnitude) * 0x1p24f;
    return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(std::nearbyint(units)));
  }
  const std::uint32_t rounded = magnitude - 0x38000000 + 0xFFF + (magnitude >> 13 & 1);
  return static_cast<std::uint16_t>(sign | rounded >> 13);  // a carry into the exponent is right, up to infinity
}

std::uint8_t u8_from_f32(float value) {
  if (!(value > 0)) return 0;
  return value >= 255 ? 255 : static_cast<std::uint8_t>(std::nearbyint(value));
}

}  // namespace stoker
