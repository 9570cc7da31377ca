// Element types of what batches hold, and the rounding from float32 to the narrow ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stoker {

enum class DType : std::uint8_t { kU8, kI64, kF16, kBF16, kF32 };

std::size_t size_of(DType dtype);

/// "u8", "i64", "f16", "bf16", "f32".
std::string_view to_string(DType dtype);

/// The inverse of to_string; throws kUsage for an unknown name.
DType parse_dtype(std::string_view name);

/// Bits of the nearest IEEE half, ties to even; overflow gives infinity.
std::uint16_t f16_from_f32(float value);
/// Bits of the nearest bfloat16, ties to even.
std::uint16_t bf16_from_f32(float value);
/// Nearest integer, ties to even, clamped to 0..255; NaN gives 0.
std::uint8_t u8_from_f32(float value);

}  // namespace stoker
