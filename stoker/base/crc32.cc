#include "stoker/base/crc32.h"

#include <isa-l/crc.h>

namespace stoker {

std::uint32_t crc32(Bytes bytes, std::uint32_t before) {
  return bytes.empty() ? before : crc32_gzip_refl(before, bytes.data(), bytes.size());
}

}  // namespace stoker
