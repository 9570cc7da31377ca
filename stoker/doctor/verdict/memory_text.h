// Sizes of memories, for people.
#pragma once

#include <cstdint>
#include <string>

namespace stoker {

/// As memory is sold: "64 GiB", "512 MiB".
std::string memory_text(std::uint64_t bytes);

}  // namespace stoker
