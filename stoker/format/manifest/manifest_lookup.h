// The manifests of the shards' folders, each read once.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "stoker/format/manifest/manifest.h"

namespace stoker {

class Manifests {
 public:
  struct Found {
    const Manifest* manifest = nullptr;  // beside the shard, whether it lists the shard or not
    const ManifestShard* shard = nullptr;
    std::string contradiction{};  // a sentence, where the shard's size is not what is listed
  };

  explicit Manifests(Stores stores) : stores_(std::move(stores)) {}

  /// What the manifest beside a shard says of it. Throws kNotFound for a shard that is not there, kData for one of a
  /// pack that is not finished. Valid as long as this object.
  Found find(const Location& shard);
  /// The shards that the manifest in a folder lists; empty without one.
  std::vector<Location> shards_of(const Location& in);
  /// What the manifest in a folder says of its tokens; null without one, and for other packs.
  const ManifestTokens* tokens_of(const Location& in);
  /// The folders with a manifest that shards_of() was asked for.
  const std::vector<Location>& whole_folders() const { return whole_folders_; }
  /// What was found to be wrong since the last call, as sentences.
  std::vector<std::string> take_problems() { return std::exchange(problems_, {}); }

 private:
  struct Entry {
    std::optional<Manifest> manifest;
    std::unordered_map<std::string, const ManifestShard*> shards;  // by name
  };

  const Entry& entry(const Location& given);

  Stores stores_;
  std::map<Location, Entry> entries_;  // by folder
  std::vector<Location> whole_folders_;
  std::vector<std::string> problems_;
};

}  // namespace stoker
