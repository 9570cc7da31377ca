// One shard of an opened data set. A manifest's entry is enough until one of its samples is needed.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "stoker/format/open/late_shards.h"

namespace stoker {

/// Threads: any.
class DataShard {
 public:
  explicit DataShard(OpenedShard opened);
  /// It is opened as the shard of that number among `late` when a sample is first wanted, and again if that threw: as
  /// it does for a shard that holds other samples.
  DataShard(std::string name, std::int64_t samples, std::uint64_t bytes, Fingerprint fingerprint,
            std::shared_ptr<const LateShards> late, std::size_t number);

  const std::string& name() const { return name_; }
  std::int64_t samples() const { return fingerprint_.samples(); }
  std::uint64_t bytes() const { return bytes_; }  // of all fields
  const Fingerprint& fingerprint() const { return fingerprint_; }

  /// Its number among the late shards, while it is not open.
  std::optional<std::size_t> late_number() const;
  /// Throws kNotFound, kIo or kData where the shard is missing or is not what the manifest says.
  const ShardRows& rows() const { return *opened().rows; }
  Source& source() const { return *opened().source; }

 private:
  const OpenedShard& opened() const;

  std::string name_;
  std::uint64_t bytes_;
  Fingerprint fingerprint_;
  std::shared_ptr<const LateShards> late_;
  std::size_t number_ = 0;  // among them
  mutable std::mutex mutex_;
  mutable std::atomic<bool> is_open_;
  mutable OpenedShard opened_;
};

}  // namespace stoker
