// Budgets in messages, rounded up so that a budget that a message calls enough is enough.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>

namespace stoker {

/// "413MB", rounded up, as parse_size reads it.
inline std::string whole_megabytes(std::uint64_t bytes) {
  constexpr std::uint64_t kMegabyte = 1'000'000;
  return fmt::format("{}MB", bytes / kMegabyte + (bytes % kMegabyte > 0 ? 1 : 0));
}

}  // namespace stoker
