#include "stoker/storage/packed_integers_testing.h"

#include <algorithm>
#include <bit>

namespace stoker {
namespace {

void append_varint(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  bytes += static_cast<char>(value);
}

void append_zigzag(std::string& bytes, std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  append_varint(bytes, bits << 1 ^ (0 - (bits >> 63)));
}

}  // namespace

std::string bits_packed(const std::vector<std::uint64_t>& values, std::uint32_t bits) {
  std::string bytes((values.size() * bits + 7) / 8, '\0');
  for (std::size_t i = 0; i < values.size() * bits; ++i) {
    const bool is_set = values[i / bits] >> (i % bits) & 1;
    bytes[i / 8] = static_cast<char>(static_cast<unsigned char>(bytes[i / 8]) | (is_set ? 1U << (i % 8) : 0));
  }
  return bytes;
}

std::string run_length_packed(const std::vector<std::uint32_t>& values, std::uint32_t bits) {
  std::string bytes;
  for (std::size_t at = 0; at < values.size();) {
    std::size_t end = at;
    while (end < values.size() && values[end] == values[at]) ++end;
    if (end - at >= 8 || end == values.size()) {
      append_varint(bytes, (end - at) * 2);
      for (std::uint32_t bit = 0; bit < bits; bit += 8) bytes += static_cast<char>(values[at] >> bit);
      at = end;
      continue;
    }
    std::vector<std::uint64_t> group(8);
    for (std::size_t i = 0; i < 8 && at < values.size(); ++i) group[i] = values[at++];
    append_varint(bytes, 1 * 2 + 1);
    bytes += bits_packed(group, bits);
  }
  return bytes;
}

std::string delta_packed(const std::vector<std::int64_t>& values) {
  constexpr std::size_t kBlock = 128, kParts = 4, kPart = kBlock / kParts;
  std::string bytes;
  append_varint(bytes, kBlock);
  append_varint(bytes, kParts);
  append_varint(bytes, values.size());
  append_zigzag(bytes, values.empty() ? 0 : values[0]);
  for (std::size_t at = 1; at < values.size(); at += kBlock) {
    std::vector<std::int64_t> steps;
    for (std::size_t i = at; i < std::min(values.size(), at + kBlock); ++i) {
      steps.push_back(
          static_cast<std::int64_t>(static_cast<std::uint64_t>(values[i]) - static_cast<std::uint64_t>(values[i - 1])));
    }
    const std::int64_t least = *std::min_element(steps.begin(), steps.end());
    append_zigzag(bytes, least);
    std::string widths(kParts, '\0'), parts;
    for (std::size_t part = 0; part * kPart < steps.size(); ++part) {
      std::vector<std::uint64_t> above(kPart);
      std::uint64_t most = 0;
      for (std::size_t i = 0; i < kPart && part * kPart + i < steps.size(); ++i) {
        above[i] = static_cast<std::uint64_t>(steps[part * kPart + i]) - static_cast<std::uint64_t>(least);
        most = std::max(most, above[i]);
      }
      const auto width = static_cast<std::uint32_t>(std::bit_width(most));
      widths[part] = static_cast<char>(width);
      parts += bits_packed(above, width);
    }
    bytes += widths + parts;
  }
  return bytes;
}

}  // namespace stoker
