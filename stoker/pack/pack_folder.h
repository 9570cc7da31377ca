// The folder that is packed into: what may be in it, what tells that a pack in it is not whole, and what it is told as
// when it is.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "stoker/format/manifest/manifest.h"
#include "stoker/pack/pack_job.h"
#include "stoker/pack/packed_shard.h"

namespace stoker {

/// Threads: a value.
class PackFolder {
 public:
  /// It need not be there. `job`: of what is to be packed into it, by a plan or without one. The stores must outlive
  /// it.
  PackFolder(const Stores& stores, Location folder, std::string job, bool is_planned = false)
      : stores_(stores), folder_(std::move(folder)), job_(std::move(job)), is_planned_(is_planned) {}

  const Location& location() const { return folder_; }
  /// Of the shard of that number.
  Location shard(const WritableFormat& format, std::size_t number) const;

  /// Throws kUsage if it lies in one of these, as far as they are folders: the data to pack.
  void require_outside(const std::vector<Location>& data) const;
  /// Whether there is anything left to do. Throws kUsage where nothing can be packed into it, kData for a finished pack
  /// that has lost a shard.
  bool has_work_left() const;

  /// Of a pack by a plan: says, beside the shards, that they are not all, until the manifest says what they are.
  void mark() const;
  void unmark() const;

  /// Writes what belongs to all shards, and last the manifest, which makes a pack of them.
  void finish(Manifest made, const WritableFormat& format, const PackContents& contents) const;
  /// The manifest alone.
  void finish(const Manifest& made) const;

 private:
  void require_whole(const Manifest& finished) const;

  const Stores& stores_;
  const Location folder_;
  const std::string job_;
  const bool is_planned_;
};

/// A manifest of these shards, in order. `left_over`: what was noted of samples that no shard came of.
Manifest manifest_of(const std::vector<PackedShard>& shards, PackedShard left_over, std::string job,
                     std::vector<std::string> classes);

/// What is told of a finished pack, the same to every call; without its bad samples, and what was there before the
/// call.
PackResult told_of(const Manifest& manifest);

/// Where the bad samples lie is for the data to say, which may have moved. Throws kData for one that it does not have.
std::vector<BadSample> bad_samples_of(const Manifest& manifest, const Dataset& data, const Location& folder);

}  // namespace stoker
