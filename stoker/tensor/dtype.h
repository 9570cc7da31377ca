// Element types of what batches hold. Threads: a value; many may read it, one may change it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stoker {

// Images have the first five, but for i64. Functions in shared objects know all by their numbers (stoker_function.h).
enum class DType : std::uint8_t { kU8, kI64, kF16, kBF16, kF32, kF64, kI8, kI16, kI32, kU16, kU32, kU64, kBool };

std::size_t size_of(DType dtype);
/// A whole number, not a float or a truth value.
bool is_integer(DType dtype);
bool is_signed(DType dtype);
bool is_float(DType dtype);

/// "u8", "i64", "f16", "bf16", "f32", "f64", "i8", "i16", "i32", "u16", "u32", "u64", "bool".
std::string_view to_string(DType dtype);

/// The inverse of to_string; throws kUsage for an unknown name.
DType parse_dtype(std::string_view name);

}  // namespace stoker
