// Reads of shards: ranges of a few large files.
#pragma once

#include <memory>
#include <vector>

#include "stoker/base/random.h"
#include "stoker/doctor/probe/data_files.h"
#include "stoker/doctor/probe/stored_reads.h"
#include "stoker/storage/file_access.h"
#include "stoker/storage/file_source.h"

namespace stoker {

class ShardReads final : public StoredReads {
 public:
  /// Opens the files, or some of them if they are many. Throws kNotFound or kIo.
  ShardReads(const DataFiles& files, const FileAccess& access, const StorageDevice& device);

  /// Whether they can be read past the page cache.
  bool direct() const { return direct_; }
  std::uint64_t bytes() const { return bytes_; }

  std::vector<ReadSize> sizes(std::uint64_t record_bytes) const override;
  StoredRead all_in_order(double seconds) const override;
  TimedReads read_cold(const StoredRead& read) override;
  std::uint64_t load(std::uint64_t bytes, double seconds) override;
  TimedReads read_warm(const StoredRead& read) override;

 private:
  struct Shard {
    std::unique_ptr<FileSource> cold, warm;
    DataFiles::File file;
    std::uint64_t begin = 0;  // of it in all of them
  };

  const Shard& shard_at(std::uint64_t place) const;
  NextPlace at_random(bool cold, std::uint64_t bytes, std::uint64_t window);
  NextPlace in_order(bool cold, std::uint64_t begin, std::uint64_t window) const;

  std::vector<Shard> shards_;
  std::uint64_t bytes_ = 0;  // of all of them
  bool direct_ = true;
  std::uint64_t warm_bytes_ = 0;  // of the first ones, that are in the page cache
  Random random_{0, 0, 0, random_stream("doctor", "shard reads", 0)};
};

}  // namespace stoker
