// Quantities as people write and read them.
#pragma once

#include <concepts>
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

/// "1 byte", "12345 bytes": as other tools write a file's size, for people to compare.
std::string byte_count(std::uint64_t bytes);

/// "413MB", rounded up, as parse_size() reads it: what a message says is enough is enough.
std::string whole_megabytes(std::uint64_t bytes);

/// An English noun, given in the singular, in the number that the count needs: "shard", "shards"; "class", "classes".
std::string plural_of(std::string_view noun, std::uint64_t count);

/// The count and the noun, which is given in the singular: "1 shard", "1,281,167 samples".
template <std::integral Count>
std::string counted(Count count, std::string_view noun) {
  const auto number = static_cast<std::uint64_t>(count);
  return format_count(number) + ' ' + plural_of(noun, number);
}

}  // namespace stoker
