// The arguments of decode_tokens: which numbers a sample's tokens come to.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "stoker/ops/operator_call.h"
#include "stoker/tensor/token_type.h"

namespace stoker {

/// Of each place in a sequence.
enum class TokenPart : std::uint8_t {
  kInputs,     // its token
  kTargets,    // the token after it
  kPositions,  // its place in its document
  kDocuments,  // the number of its document in the sequence, from 0
  kMask,       // 1, or 0 after the end of the sample
};

struct TokenOptions {
  int length = 0;
  TokenPart part = TokenPart::kInputs;
  std::optional<TokenType> type{};    // unset: as the field's name ends
  std::optional<std::int64_t> eod{};  // the token that ends a document
  std::int64_t pad = 0;               // the token after the end of a document that is shorter
  enum class Longer : std::uint8_t { kRefuse, kCut, kRandom } longer = Longer::kRefuse;  // than the sequence
  std::uint64_t stream = 0;                                                              // of its random numbers
};

void apply_decode_tokens(const OperatorCall& call, TokenOptions& options);

}  // namespace stoker
