// Files of tokens: Megatron's `.bin` with its `.idx`, arrays of numpy with one axis, and numbers alone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/storage/stores.h"
#include "stoker/tensor/token_type.h"

namespace stoker {

/// Tokens side by side.
struct TokenFile {
  std::shared_ptr<Source> source;
  std::string key_prefix{};  // of its samples
  TokenType type = TokenType::kU16;
  std::uint64_t offset = 0;  // of the first one
  std::uint64_t tokens = 0;
  /// The token at which each document begins, and the number of all tokens last; the documents of an array with two
  /// axes are its rows. Empty where documents were not asked for, or the file knows none.
  std::vector<std::uint64_t> documents{};
};

/// The index that tokens in a file would have beside it, or that the file is; nothing if there is none.
std::optional<Location> find_token_index(const Stores& stores, const Location& at);

/// What a place stands for: itself, or for a folder the files of tokens directly in it, sorted: `.npy`, and `.bin` with
/// an index, or any if `type` says what they hold. Throws kUsage for a folder without one, kNotFound and kIo.
std::vector<Location> find_token_files(const Stores& stores, const Location& at, std::optional<TokenType> type);

/// `type`: of a file that does not say it. Throws kNotFound, kIo, kData for a file that is damaged, and kUsage for one
/// whose type is not known or not `type`.
TokenFile open_token_file(const Stores& stores, const Location& at, std::optional<TokenType> type, bool with_documents);

}  // namespace stoker
