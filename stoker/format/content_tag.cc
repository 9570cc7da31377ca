#include "stoker/format/content_tag.h"

#include <algorithm>
#include <vector>

#include "stoker/base/hash.h"
#include "stoker/base/little_endian.h"

namespace stoker {

std::uint64_t content_tag(Source& shard, std::uint64_t data_bytes) {
  constexpr std::uint64_t kEnd = 4096;
  const std::uint64_t each = std::min(data_bytes, kEnd);
  std::vector<std::uint8_t> bytes;
  append_little_endian(bytes, data_bytes);
  bytes.resize(bytes.size() + 2 * each);
  const MutableBytes ends = MutableBytes(bytes).subspan(sizeof data_bytes);
  read_fully(shard, 0, ends.first(each));
  read_fully(shard, data_bytes - each, ends.subspan(each));
  return hash64(bytes);
}

}  // namespace stoker
