// Samples of one shard with the same key. Mostly they are one sample whose members are not adjacent, which every reader
// of WebDataset tars treats as several.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/format/shard_rows.h"

namespace stoker {

struct RepeatedKey {
  std::int64_t row = 0, first = 0;  // `first` had the key before
};

struct RepeatedKeys {
  std::int64_t count = 0;          // of samples whose key an earlier one has
  std::vector<RepeatedKey> named;  // the first thousand of them

  /// A sentence about all of them; empty without any.
  std::string sentence(const std::string& shard, const ShardRows& rows) const;
};

/// Goes over the rows as often as it must to need no more than `bytes_max`: 64 MiB hold those of four million samples.
/// Throws what reading rows throws, and kClosed when asked to stop.
RepeatedKeys find_repeated_keys(const ShardRows& rows, const std::string& shard, const std::stop_token& stop = {},
                                std::size_t bytes_max = std::size_t{64} << 20);

}  // namespace stoker
