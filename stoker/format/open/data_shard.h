// One shard of an opened data set. A manifest's entry is enough until one of its samples is needed.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "stoker/format/shard_rows.h"
#include "stoker/storage/source.h"

namespace stoker {

struct OpenedShard {
  std::shared_ptr<Source> source;
  std::shared_ptr<const ShardRows> rows;
  std::vector<std::string> classes{};   // by label, if the shard names them
  std::vector<std::string> problems{};  // sentences about what is wrong but not in the way
};

/// Threads: any.
class DataShard {
 public:
  explicit DataShard(OpenedShard opened);
  /// `open` is called when a sample is first wanted, and again if it threw: as it does for a shard that holds other
  /// samples.
  DataShard(std::string name, std::int64_t samples, std::uint64_t bytes, Fingerprint fingerprint,
            std::function<OpenedShard()> open);

  const std::string& name() const { return name_; }
  std::int64_t samples() const { return fingerprint_.samples(); }
  std::uint64_t bytes() const { return bytes_; }  // of all fields
  const Fingerprint& fingerprint() const { return fingerprint_; }

  /// Throws kNotFound, kIo or kData where the shard is missing or is not what the manifest says.
  const ShardRows& rows() const { return *opened().rows; }
  Source& source() const { return *opened().source; }

 private:
  const OpenedShard& opened() const;

  std::string name_;
  std::uint64_t bytes_;
  Fingerprint fingerprint_;
  std::function<OpenedShard()> open_;
  mutable std::mutex mutex_;
  mutable std::atomic<bool> is_open_;
  mutable OpenedShard opened_;
};

}  // namespace stoker
