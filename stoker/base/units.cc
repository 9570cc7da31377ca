#include "stoker/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "stoker/base/error.h"

namespace stoker {
namespace {

struct Unit {
  std::string_view name;
  double bytes;
};
constexpr Unit kUnits[] = {
    {"", 1},      {"B", 1},        {"KB", 1e3},     {"MB", 1e6},     {"GB", 1e9},
    {"TB", 1e12}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40},
};

}  // namespace

std::uint64_t parse_size(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  const auto* found = std::find_if(std::begin(kUnits), std::end(kUnits), [&](const Unit& u) { return u.name == unit; });
  if (error != std::errc() || found == std::end(kUnits) || !(number >= 0) || number * found->bytes > 0x1p62) {
    fail(ErrorKind::kUsage, "'{}' is not a size; write it as 20MB, 512MiB or 4096", text);
  }
  return static_cast<std::uint64_t>(number * found->bytes);
}

std::string format_size(double bytes) {
  constexpr std::array<const char*, 6> kNames = {"B", "KB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  while (bytes >= 999.5 && unit + 1 < kNames.size()) {
    bytes /= 1000;
    ++unit;
  }
  const int decimals = unit == 0 || bytes >= 99.95 ? 0 : bytes >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", bytes, decimals, kNames[unit]);
}

std::string format_duration(double seconds) {
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string format_count(std::uint64_t count) {
  std::string digits = fmt::format("{}", count);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return digits;
}

std::string byte_count(std::uint64_t bytes) { return fmt::format("{} {}", bytes, plural_of("byte", bytes)); }

std::string whole_megabytes(std::uint64_t bytes) {
  constexpr std::uint64_t kMegabyte = 1'000'000;
  return fmt::format("{}MB", bytes / kMegabyte + (bytes % kMegabyte > 0 ? 1 : 0));
}

std::string plural_of(std::string_view noun, std::uint64_t count) {
  std::string text(noun);
  if (count == 1) return text;
  const bool hisses = text.ends_with('s') || text.ends_with('x') || text.ends_with("ch") || text.ends_with("sh");
  return text += hisses ? "es" : "s";
}

}  // namespace stoker
