// Tokens as samples: sequences of a length, or documents. Each has one field, "tokens.u16" or as their type is called.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/format/dataset.h"
#include "stoker/format/tokens/token_file.h"

namespace stoker {

struct TokenSamples {
  /// Sequences of so many tokens, each with one more: the token after its last, which begins the next one. Unset:
  /// documents.
  std::optional<std::int64_t> length{};
  /// The tokens as so many streams side by side, each going on from batch to batch where it was: sample i is a part of
  /// stream i mod streams. For an order without shuffling, and global batches of as many.
  std::int64_t streams = 0;
  std::optional<TokenType> type{};  // of files that do not say it
  /// A field of the samples of any data set, each of which is a document; empty: files of tokens.
  std::string field{};
  /// For sequences: each file's documents in an order that this number decides, as if they had been written so.
  std::optional<std::uint64_t> document_seed{};
};

/// The samples of several files, or of those in folders; sequences end with their file. Throws as open_token_file()
/// does, kUsage for options that make no sense, kData for files without a sample or of different types, and kClosed
/// when asked to `stop`.
std::shared_ptr<const Dataset> open_tokens(const std::vector<Location>& named, const Stores& stores,
                                           const TokenSamples& options, const std::stop_token& stop = {});
/// The same of a field of another data set's samples, a shard of which stands for a file. Throws as
/// open_token_columns() does.
std::shared_ptr<const Dataset> open_tokens_of(const std::shared_ptr<const Dataset>& data, const TokenSamples& options,
                                              const std::stop_token& stop = {});

}  // namespace stoker
