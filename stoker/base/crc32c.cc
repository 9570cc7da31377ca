#include "stoker/base/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>
#include <limits>

namespace stoker {

std::uint32_t crc32c(Bytes bytes, std::uint32_t before) {
  // ISA-L leaves the inversions at both ends to the caller, and counts in int.
  constexpr std::size_t kMost = std::numeric_limits<int>::max();
  std::uint32_t crc = ~before;
  while (!bytes.empty()) {
    const Bytes piece = bytes.first(std::min(bytes.size(), kMost));
    crc = crc32_iscsi(const_cast<unsigned char*>(piece.data()), static_cast<int>(piece.size()), crc);
    bytes = bytes.subspan(piece.size());
  }
  return ~crc;
}

}  // namespace stoker
