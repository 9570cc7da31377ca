#include "stoker/format/tar/tar_format.h"

#include "stoker/format/tar/tar_samples.h"

namespace stoker {

bool TarFormat::recognises(const ShardCandidate& shard) const {
  if (shard.is_folder()) return false;
  for (const std::string_view ending : {".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.xz", ".tar.bz2", ".tar.lz4"}) {
    if (shard.name().ends_with(ending)) return true;
  }
  constexpr std::string_view kMagic = "ustar";
  constexpr std::size_t kMagicAt = 257;
  const std::string_view head = as_text(shard.head());
  return head.size() > kMagicAt && head.substr(kMagicAt).starts_with(kMagic);
}

std::unique_ptr<ShardScan> TarFormat::scan(Source& shard, const std::stop_token& stop) const {
  return std::make_unique<TarSamples>(shard, stop);
}

}  // namespace stoker
