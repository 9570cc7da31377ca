// Reads every byte of a data set and reports its faults: checksums, indexes, manifest, images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/codec/image_decoder.h"
#include "stoker/format/field_choice.h"
#include "stoker/pack/index_job.h"
#include "stoker/storage/stores.h"

namespace stoker {

struct VerifyOptions {
  FieldChoice fields{};                            // that hold images and labels, where the usual ones are not meant
  std::optional<std::vector<std::size_t>> only{};  // of the shards, by their numbers; unset: all
  bool whole = true;           // also what is about no shard by itself: files that are not in a manifest, or missing
  std::string index_folder{};  // where to look for indexes first
  int threads = 0;             // 0: as many as the process may use cores
  // Budget in bytes for all that the job holds; unset: default_job_memory().
  std::optional<std::uint64_t> memory{};
  DecodeLimits limits{};                                                    // of images; larger ones are bad samples
  std::stop_token stop{};                                                   // requested to stop early
  std::function<void(std::uint64_t done, std::uint64_t total)> progress{};  // in bytes; by the calling thread
  Stores stores{};  // where data lie and go; without more, local files
};

struct VerifyResult {
  std::int64_t samples = 0, shards = 0, indexed = 0;  // indexed: shards whose checksums are known
  std::uint64_t bytes = 0;                            // of all fields
  std::int64_t current = 0;    // tasks of a plan that were done already: what is told of their shards was found then
  std::vector<BadSample> bad;  // without a key: of the shard as a whole
  std::vector<BadSample> concealed;  // decoders show something else in place of damaged parts
};

/// Goes on after what is bad. Throws for data that is not there, kUsage for chosen fields that no shard has, kMemory
/// for what the machine refuses, and kClosed when stopped.
VerifyResult verify(const std::vector<std::string>& data, const VerifyOptions& options);

}  // namespace stoker
