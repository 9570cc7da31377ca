#include "stoker/pack/whole_hash.h"

#include <algorithm>
#include <vector>

#include "stoker/base/hash.h"
#include "stoker/format/shard_format.h"

namespace stoker {

std::uint64_t whole_hash(Source& source, std::uint64_t bytes, const std::stop_token& stop) {
  Hasher64 hasher;
  std::vector<std::uint8_t> piece(std::size_t{1} << 20);
  for (std::uint64_t at = 0; at < bytes; at += piece.size()) {
    stop_if_asked(stop, source.name());
    const MutableBytes wanted = MutableBytes(piece).first(std::min<std::uint64_t>(piece.size(), bytes - at));
    read_fully(source, at, wanted);
    hasher.update(wanted);
  }
  return hasher.digest();
}

}  // namespace stoker
