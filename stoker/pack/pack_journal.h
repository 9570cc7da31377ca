// The progress of a pack, kept until the manifest replaces it: a killed pack resumes after its last complete shard. It
// lies beside the shards; of a pack into a store, whose objects cannot be appended to, in the user's cache folder, and
// an object of its name says beside the shards that they are not all.
#pragma once

#include <string>
#include <vector>

#include "stoker/pack/packed_shard.h"
#include "stoker/storage/posix_file.h"

namespace stoker {

class PackJournal {
 public:
  /// Opens the journal of the pack in `folder`, or begins one. Entries stand as far as they are whole and their shards
  /// are there with the size and the index they should have; what follows is forgotten. Throws kUsage when it has
  /// shards of another job, and where there is no cache folder to keep it in. The process that packs locks it.
  PackJournal(Location folder, const Stores& stores, const std::string& job);

  const std::vector<PackedShard>& shards() const { return shards_; }
  /// On disk when it returns.
  void add(PackedShard shard);
  /// Removes the journal once the manifest is there: also what a call left that was killed in between.
  static void discard(const Location& folder, const Stores& stores);

 private:
  void read(const Stores& stores, const std::string& job);
  void append(const std::string& line);

  Location folder_;
  std::string path_;
  FileDescriptor fd_;
  std::vector<PackedShard> shards_;
};

}  // namespace stoker
