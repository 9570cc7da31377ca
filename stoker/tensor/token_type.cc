#include "stoker/tensor/token_type.h"

#include <cstring>

#include "stoker/base/words.h"

namespace stoker {
namespace {

constexpr Word<TokenType> kTokenTypes[] = {{TokenType::kU8, "u8"},  {TokenType::kU16, "u16"}, {TokenType::kU32, "u32"},
                                           {TokenType::kI8, "i8"},  {TokenType::kI16, "i16"}, {TokenType::kI32, "i32"},
                                           {TokenType::kI64, "i64"}};

// Machines that store the highest byte first are none of ours.
template <typename Number>
void widen(const std::uint8_t* from, std::size_t count, std::int64_t* into) {
  for (std::size_t i = 0; i < count; ++i) {
    Number number;
    std::memcpy(&number, from + i * sizeof(Number), sizeof(Number));
    into[i] = std::int64_t{number};
  }
}

}  // namespace

std::size_t size_of(TokenType type) {
  switch (type) {
    case TokenType::kU8:
    case TokenType::kI8: return 1;
    case TokenType::kU16:
    case TokenType::kI16: return 2;
    case TokenType::kU32:
    case TokenType::kI32: return 4;
    case TokenType::kI64: break;
  }
  return 8;
}

std::string_view to_string(TokenType type) { return word_of(kTokenTypes, type); }

TokenType parse_token_type(std::string_view name) { return value_of(kTokenTypes, name, "not a type of tokens"); }

void widen_tokens(TokenType type, const std::uint8_t* from, std::size_t count, std::int64_t* into) {
  switch (type) {
    case TokenType::kU8: return widen<std::uint8_t>(from, count, into);
    case TokenType::kU16: return widen<std::uint16_t>(from, count, into);
    case TokenType::kU32: return widen<std::uint32_t>(from, count, into);
    case TokenType::kI8: return widen<std::int8_t>(from, count, into);
    case TokenType::kI16: return widen<std::int16_t>(from, count, into);
    case TokenType::kI32: return widen<std::int32_t>(from, count, into);
    case TokenType::kI64: return widen<std::int64_t>(from, count, into);
  }
}

}  // namespace stoker
