// How the tokens of a text are stored: whole numbers of one size, lowest byte first. Threads: a value; many may read
// it, one may change it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stoker {

enum class TokenType : std::uint8_t { kU8, kU16, kU32, kI8, kI16, kI32, kI64 };

std::size_t size_of(TokenType type);

/// "u8", "u16", "u32", "i8", "i16", "i32", "i64".
std::string_view to_string(TokenType type);

/// The inverse of to_string; throws kUsage for an unknown name.
TokenType parse_token_type(std::string_view name);

/// Numbers of this type as int64.
void widen_tokens(TokenType type, const std::uint8_t* from, std::size_t count, std::int64_t* into);

}  // namespace stoker
