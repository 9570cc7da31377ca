// Tar shards as WebDataset writes them: consecutive members that share a key are one sample. A scan reads the headers
// and seeks over the data; nothing is ever extracted, and members' names serve as keys only.
#pragma once

#include "stoker/format/shard_format.h"
#include "stoker/storage/source.h"

namespace stoker {

/// Members that are no regular files (links, folders, devices, sparse files), whose names have no extension, or that
/// belong to Stoker itself ("__stoker__/...") are passed over. A member "cls" holds its sample's class number as text.
class TarFormat final : public ShardFormat {
 public:
  std::string_view name() const override { return "tar"; }
  /// By the name's extension, also of compressed tars, which scan() refuses with the reason; else by the magic bytes.
  bool recognises(const std::string& path) const override;
  bool is_one_file() const override { return true; }
  ShardContents scan(const std::string& path, const FileAccess& access, const std::stop_token& stop) const override;
};

/// The samples of a tar; whether it holds an index besides. Throws kData naming the source, the place and the last good
/// member when it is damaged, truncated anywhere (a missing end mark included), compressed, or when a sample has a
/// field twice or a `cls` that is no number.
SampleTable scan_tar(Source& source, const std::stop_token& stop = {}, bool* holds_index = nullptr);

}  // namespace stoker
