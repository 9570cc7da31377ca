#include "stoker/format/tfrecord/tfrecord_frame.h"

#include "stoker/base/crc32c.h"
#include "stoker/base/little_endian.h"

namespace stoker {

std::uint32_t masked_crc32c(Bytes bytes) {
  const std::uint32_t crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

std::optional<std::uint64_t> read_tfrecord_header(Bytes header) {
  const auto stored = load_little_endian<std::uint32_t>(header.data() + 8);
  if (masked_crc32c(header.first(8)) != stored) return std::nullopt;
  return load_little_endian<std::uint64_t>(header.data());
}

}  // namespace stoker
