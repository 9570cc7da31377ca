// Writes texts as tokens: each word, or each byte, as a number. Other tokenisers write the same files from Python
// (python/stoker/tokens.py).
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/storage/stores.h"

namespace stoker {

enum class TokenUnit : std::uint8_t {
  kWords,  // what white space divides, and at the end of each line kEndOfLine
  kBytes,
};
/// "words", "bytes". Throws kUsage for anything else.
TokenUnit parse_token_unit(std::string_view name);

constexpr std::string_view kEndOfLine = "<eos>", kUnknownWord = "<unk>";

struct TokenPackOptions {
  TokenUnit unit = TokenUnit::kWords;
  std::int64_t vocab = 0;  // at most so many words: kEndOfLine, kUnknownWord, the most frequent ones; 0: all there are
  std::string vocab_file{};  // or those of a list that an earlier pack wrote
  Stores stores{};
  std::stop_token stop{};
  std::function<void(std::int64_t done, std::int64_t total)> progress{};  // in bytes of text
};

struct TokenPackResult {
  std::int64_t documents = 0, tokens = 0, unknown = 0, words = 0;  // words: of the vocabulary
  std::uint64_t bytes = 0;                                         // of the file of tokens
};

/// Each file is a document. Writes TO/tokens.bin, TO/tokens.idx as Megatron has it, for words TO/vocab.txt, whose lines
/// are the words by number, and last TO/manifest.json with their hashes. If TO holds a pack of the same files with the
/// same options, nothing is left to do. Throws kUsage for options that make no sense and for a folder that holds
/// anything else, kNotFound, kIo, kData for a file without text, with a word that is too long or not in the vocabulary,
/// or that changes meanwhile, and kClosed.
TokenPackResult pack_tokens(const std::vector<std::string>& files, const std::string& to,
                            const TokenPackOptions& options);

}  // namespace stoker
