// Packs integers as Parquet does, for tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stoker {

/// Values of up to 64 bits, the lowest of each byte first; whole bytes.
std::string bits_packed(const std::vector<std::uint64_t>& values, std::uint32_t bits);

/// As RunLengthReader reads them: runs of 8 and more as such, the others in groups of 8.
std::string run_length_packed(const std::vector<std::uint32_t>& values, std::uint32_t bits);

/// As DeltaReader reads them: DELTA_BINARY_PACKED.
std::string delta_packed(const std::vector<std::int64_t>& values);

}  // namespace stoker
