// The progress of a pack, kept beside its shards until the manifest replaces it: a killed pack resumes after its last
// complete shard.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/format/manifest/manifest.h"
#include "stoker/storage/posix_file.h"

namespace stoker {

/// One shard that is on disk under its name, and where the next one begins.
struct PackedShard {
  ManifestShard shard;
  std::vector<std::string> fields;  // that occur in it
  std::int64_t next_position = 0;   // of the first sample that is not in this or an earlier shard
  std::vector<ManifestBad> bad;     // those left out or kept as they are, up to there
  std::int64_t concealed = 0;
};

class PackJournal {
 public:
  /// Opens the journal in `folder`, or begins one. Entries stand as far as they are whole and their shards are there
  /// with the size and the index they should have; what follows is forgotten. Throws kUsage when it is of another job.
  /// The folder is a local one: the journal is appended to, and locked by the process that packs.
  PackJournal(std::string folder, const Stores& stores, const std::string& job);

  const std::vector<PackedShard>& shards() const { return shards_; }
  /// On disk when it returns.
  void add(PackedShard shard);
  /// Removes the journal once the manifest is there: also what a call left that was killed in between.
  static void discard(const std::string& folder);

 private:
  void append(const std::string& line);

  std::string folder_, path_;
  FileDescriptor fd_;
  std::vector<PackedShard> shards_;
};

}  // namespace stoker
