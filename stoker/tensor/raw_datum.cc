#include "stoker/tensor/raw_datum.h"

#include <limits>

namespace stoker {
namespace {

/// The beginnings of the fields, as every writer of protobuf puts them: in the order of their numbers.
constexpr std::uint8_t kChannels = 1 << 3, kHeight = 2 << 3, kWidth = 3 << 3, kData = 4 << 3 | 2;

/// What follows `tag`, a varint, and goes past both; nothing if something else stands there.
std::optional<std::uint64_t> take_number(Bytes message, std::size_t& at, std::uint8_t tag) {
  constexpr int kGroupBits = 7, kBitsMax = 63;
  if (at == message.size() || message[at] != tag) return std::nullopt;
  std::uint64_t number = 0;
  std::size_t next = at + 1;
  for (int shift = 0; shift < kBitsMax && next < message.size(); shift += kGroupBits) {
    const std::uint8_t byte = message[next++];
    number |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte & 0x80) continue;
    at = next;
    return number;
  }
  return std::nullopt;
}

}  // namespace

std::optional<RawDatum> read_raw_datum(Bytes beginning) {
  constexpr std::uint64_t kSideMax = std::numeric_limits<int>::max();
  RawDatum datum;
  std::size_t at = 0;
  const auto channels = take_number(beginning, at, kChannels);
  if (channels != 1 && channels != 3) return std::nullopt;
  datum.channels = static_cast<int>(*channels);
  const auto height = take_number(beginning, at, kHeight), width = take_number(beginning, at, kWidth);
  if (!height || !width || *height < 1 || *width < 1 || *height > kSideMax || *width > kSideMax) return std::nullopt;
  datum.height = static_cast<int>(*height);
  datum.width = static_cast<int>(*width);
  const auto length = take_number(beginning, at, kData);
  if (!length || *length != datum.data_bytes()) return std::nullopt;  // sides below 2^31: no overflow
  datum.data_offset = at;
  return datum;
}

}  // namespace stoker
