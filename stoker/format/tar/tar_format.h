// Tar shards as WebDataset writes them: consecutive members that share a key are one sample. A scan reads the headers
// and seeks over the data; nothing is ever extracted, and members' names serve as keys only.
#pragma once

#include "stoker/format/shard_format.h"
#include "stoker/storage/source.h"

namespace stoker {

/// Members that are not regular files (links, folders, devices, sparse files), whose names have no extension, or that
/// belong to Stoker itself ("__stoker__/...") are passed over. A member "cls" holds its sample's class number as text.
class TarFormat final : public ShardFormat {
 public:
  std::string_view name() const override { return "tar"; }
  /// By the name's extension, also of compressed tars, which scan() refuses with the reason; else by the magic bytes.
  bool recognises(const ShardCandidate& shard) const override;
  bool is_shard_name(std::string_view name) const override { return name.ends_with(".tar"); }
  std::unique_ptr<ShardScan> scan(Source& shard, const std::stop_token& stop) const override;
};

}  // namespace stoker
