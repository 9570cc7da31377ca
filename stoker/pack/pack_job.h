// Packs a data set into shards of one format with indexes and a manifest: the same bytes for the same data and options,
// for any number of threads and interruptions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/codec/image_decoder.h"
#include "stoker/format/field_choice.h"
#include "stoker/format/shard_file_writer.h"
#include "stoker/pack/index_job.h"
#include "stoker/pack/pack_transform.h"
#include "stoker/storage/stores.h"

namespace stoker {

enum class BadSamplePolicy {
  kSkip,  // leave it out and list it
  kKeep,  // pack its bytes as they are and list it
  kFail,  // stop with an error that names it
};

BadSamplePolicy parse_pack_policy(std::string_view name);  // skip, keep or fail; throws kUsage
std::string_view to_string(BadSamplePolicy policy);

struct PackOptions {
  FieldChoice fields{};  // that hold images and labels, where the usual ones are not meant
  std::string subset{};  // a list of keys; empty: all samples
  std::string labels{};  // "folders", or a list of keys and labels (format/labels.h); empty: the data's own
  const WritableFormat* format = writable_formats().front();
  std::uint64_t shard_bytes = std::uint64_t{256} << 20;  // of a shard without its index; a larger sample has its own
  PackTransformOptions transform{};
  std::vector<std::string> classes{};  // names, or numbers where there are no names; empty: all. They are numbered anew
  std::optional<std::uint64_t> shuffle{};  // seed of a global shuffle
  BadSamplePolicy bad = BadSamplePolicy::kSkip;
  int threads = 0;  // 0: as many as the process may use cores
  // Budget in bytes for all that the job holds; unset: default_job_memory().
  std::optional<std::uint64_t> memory{};
  DecodeLimits limits{};   // of images; larger ones are bad samples
  std::stop_token stop{};  // requested to stop early
  std::function<void(std::int64_t done, std::int64_t total)>
      progress{};   // in samples, first those that are packed already; by the calling thread
  Stores stores{};  // where data lie and go; without more, local files
};

struct PackResult {
  std::int64_t samples = 0, shards = 0, concealed = 0;
  std::int64_t resumed = 0;    // of the shards, those that an earlier call had made
  std::uint64_t bytes = 0;     // of the shards
  std::vector<BadSample> bad;  // by their places in the data
};

/// Writes `to`/shard-000000.tar (or with the format's ending) and so on, and `to`/manifest.json last. Killed or
/// stopped, it goes on where it was when called again; finished, it tells again what it did. Where no sample is left,
/// it writes nothing, and the result has none. Throws kUsage for options
/// that make no sense, a folder that holds something else, or a sample that the format cannot hold, before anything is
/// written; kBadSample by policy, kData for data that is damaged or changes meanwhile, kIo, kClosed when stopped.
PackResult pack(const std::vector<std::string>& data, const std::string& to, const PackOptions& options);

struct PackEstimate {
  std::int64_t samples = 0;                  // that would be packed
  std::int64_t tried = 0;                    // spread over the data set, and packed in memory
  std::uint64_t bytes = 0;                   // the shards would take, by those
  double seconds = 0;                        // it would take, by those, without the time to write
  std::optional<std::uint64_t> disk_free{};  // where it would be written; unset for a store, which does not tell
};

/// Writes nothing.
PackEstimate estimate_pack(const std::vector<std::string>& data, const std::string& to, const PackOptions& options);

}  // namespace stoker
