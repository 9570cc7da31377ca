#include "stoker/doctor/verdict/memory_text.h"

#include <fmt/format.h>

namespace stoker {

std::string memory_text(std::uint64_t bytes) {
  constexpr std::uint64_t kMebi = 1 << 20, kGibi = 1 << 30;
  const bool small = bytes < kGibi;
  return fmt::format("{:.0f} {}", static_cast<double>(bytes) / static_cast<double>(small ? kMebi : kGibi),
                     small ? "MiB" : "GiB");
}

}  // namespace stoker
