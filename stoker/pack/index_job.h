// Makes the indexes of shards: reads every byte once, checks every image, and leaves "<shard>.sidx" beside each shard
// or in a folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/codec/image_decoder.h"
#include "stoker/format/bad_sample.h"
#include "stoker/storage/stores.h"

namespace stoker {

struct BrokenShard {
  std::string shard, reason;
};

struct IndexJobOptions {
  std::string folder{};                            // for the indexes; empty: beside their shards
  std::optional<std::vector<std::size_t>> only{};  // of the shards, by their numbers; unset: all
  bool decode = true;        // otherwise images tell what their headers say, and soundness stays unknown
  bool entry_points = true;  // are kept, from which JPEGs can be decoded in part
  int threads = 0;           // 0: as many as the process may use cores
  // Budget in bytes for all that the job holds, and up to an eighth more for shards that are far away; unset:
  // default_job_memory().
  std::optional<std::uint64_t> memory{};
  DecodeLimits limits{};   // of images; larger ones are bad samples
  std::stop_token stop{};  // requested to stop early
  std::function<void(std::uint64_t done, std::uint64_t total)>
      progress{};   // in bytes of shards, first those that are indexed already; by the calling thread
  Stores stores{};  // where data lie and go; without more, local files
};

struct IndexJobResult {
  std::int64_t shards = 0;   // indexed now
  std::int64_t current = 0;  // that had a good index already
  std::int64_t samples = 0, concealed = 0;
  std::uint64_t bytes = 0;
  std::vector<BadSample> bad;       // their rows are in the index and say so
  std::vector<BrokenShard> broken;  // that have no index; nothing else here counts them
};

/// DATA as open_dataset() takes it. Stopped or killed, it leaves whole indexes only, and another call goes on with the
/// shards that have none. Goes on after a shard that is damaged, changes meanwhile, or cannot be read. Throws kUsage
/// for a folder of loose files and for two shards whose indexes would have one name, kNotFound for data that are not
/// there, kIo for an index that cannot be written and for a store that does not answer, kMemory, kClosed when stopped.
IndexJobResult index_shards(const std::vector<std::string>& data, const IndexJobOptions& options);

}  // namespace stoker
