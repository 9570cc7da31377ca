// CRC-32C (Castagnoli), by ISA-L: guards the bytes of a data set's fields. Any flip of up to three bits is found.
#pragma once

#include <cstdint>

#include "stoker/base/bytes.h"

namespace stoker {

/// Of the bytes that gave `before`, followed by `bytes`; 0 is the checksum of nothing.
std::uint32_t crc32c(Bytes bytes, std::uint32_t before = 0);

}  // namespace stoker
