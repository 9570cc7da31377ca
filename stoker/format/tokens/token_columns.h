// Tokens in the samples of any data set: a field of each, such as the column input_ids of a tokenised set in Parquet,
// is a document.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <vector>

#include "stoker/format/dataset.h"
#include "stoker/format/tokens/token_file.h"

namespace stoker {

/// The documents of each shard, in its samples' order, as if they were a file of tokens; samples without tokens are
/// left out. Reads the places of all samples, and keeps 16 bytes for each document that does not lie behind the one
/// before it. `field`: with or without its type, "input_ids.i32" or "input_ids"; `type`: of a field whose name does not
/// say it. Throws kUsage for a field that there is not, or for loose files; kData for a shard without tokens; kClosed
/// when asked to `stop`; and what reading rows throws.
std::vector<TokenFile> open_token_columns(const std::shared_ptr<const Dataset>& data, std::string_view field,
                                          std::optional<TokenType> type, bool with_documents,
                                          const std::stop_token& stop);

}  // namespace stoker
