// CRC-32 as zip and gzip have it, by ISA-L: guards what others wrote. Stoker's own checksums are CRC-32C.
#pragma once

#include <cstdint>

#include "stoker/base/bytes.h"

namespace stoker {

/// Of the bytes that gave `before`, followed by `bytes`; 0 is the checksum of nothing.
std::uint32_t crc32(Bytes bytes, std::uint32_t before = 0);

}  // namespace stoker
