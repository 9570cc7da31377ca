// Spans of bytes: the currency between storage, codecs and hashes. Threads: a value; many may read it, one may change
// it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace stoker {

using Bytes = std::span<const std::uint8_t>;
using MutableBytes = std::span<std::uint8_t>;

inline Bytes as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

inline std::string_view as_text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

}  // namespace stoker
