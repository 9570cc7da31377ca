// Quantities as people write and read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stoker {

/// "20MB" (10^6), "512MiB" (2^20), "1.5 GiB", "4096" (bytes). Throws kUsage for anything else.
std::uint64_t parse_size(std::string_view text);

/// "3.2 GB", "110 KB", "87 B": three significant digits, powers of 1000.
std::string format_size(double bytes);

/// "1 h 04 min", "3 min 20 s", "12 s", "0.3 s".
std::string format_duration(double seconds);

/// "1,281,167".
std::string format_count(std::uint64_t count);

}  // namespace stoker
