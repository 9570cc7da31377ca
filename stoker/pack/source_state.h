// Notices that the files of a data set changed while a job read them, or between two calls of one job.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "stoker/format/open/sharded_dataset.h"

namespace stoker {

/// Notices that a file changed while a job read it.
class FileState {
 public:
  /// As it is now. Throws kNotFound or kIo. The stores must outlive it.
  FileState(const Stores& stores, Location file);
  /// Throws kData if size, time of change or identity are no longer what they were.
  void require_unchanged() const;
  /// What is compared, as text.
  const std::string& version() const { return version_; }

 private:
  const Stores* stores_;
  Location file_;
  std::string version_;
};

class SourceState {
 public:
  /// As it is now: of each shard that is a file, and of every file of a folder. Throws kNotFound or kIo, and kClosed
  /// when asked to stop. Both must outlive it.
  SourceState(const ShardedDataset& dataset, const Stores& stores, const std::stop_token& stop = {});
  /// Throws kData, naming the file, if one of them is no longer what it was.
  void require_unchanged(const std::stop_token& stop = {}) const;
  /// Sixteen hexadecimal digits that stay the same as long as the files do.
  const std::string& digest() const { return digest_; }

 private:
  /// Of the shards as they were, and of a folder's files as they are now.
  std::string digest_now(const std::stop_token& stop) const;

  const ShardedDataset& dataset_;
  const Stores& stores_;
  std::vector<FileState> shards_;
  std::string digest_;
};

}  // namespace stoker
