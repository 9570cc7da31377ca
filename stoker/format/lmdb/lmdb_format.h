// LMDB databases of images: Caffe's, those of text recognition (image-000000001, label-000000001), and those whose
// values are image files. docs/formats.md says what becomes of which entry. A file is read as it is: without its lock,
// and without LMDB's library.
#pragma once

#include "stoker/format/shard_format.h"

namespace stoker {

class LmdbFormat final : public ShardFormat {
 public:
  std::string_view name() const override { return "lmdb"; }
  /// By the magic number of its meta page, or the extension "mdb" or "lmdb".
  bool recognises(const ShardCandidate& shard) const override;
  /// Not "lock.mdb", which lies beside "data.mdb" and holds no data.
  bool is_shard_name(std::string_view name) const override;
  /// Its next() throws kData naming the file and the page when the file is damaged or truncated, or not of a kind that
  /// Stoker reads.
  std::unique_ptr<ShardScan> scan(Source& shard, const std::stop_token& stop) const override;
};

}  // namespace stoker
