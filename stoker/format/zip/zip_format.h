// Zip files as folders: the members of a zip are samples as the files of a folder are (see FolderFormat). Stored
// members are read where they are; deflated ones are compressed blocks.
#pragma once

#include <memory>
#include <stop_token>

#include "stoker/format/shard_format.h"

namespace stoker {

class ZipFormat final : public ShardFormat {
 public:
  std::string_view name() const override { return "zip"; }
  /// By the extension "zip", or by the first bytes of a member or of an empty zip.
  bool recognises(const ShardCandidate& shard) const override;
  bool is_shard_name(std::string_view name) const override { return name.ends_with(".zip"); }
  /// Throws as ZipDirectory and FolderFormat do, and kData for a member of a sample that is encrypted, or compressed
  /// by another method than deflate or zstd.
  std::unique_ptr<ShardScan> scan(Source& shard, const std::stop_token& stop) const override;
};

}  // namespace stoker
