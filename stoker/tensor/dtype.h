// Element types of what batches hold. Threads: a value; many may read it, one may change it.
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

}  // namespace stoker
