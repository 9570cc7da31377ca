// Compresses as LibLZF does, for tests: less well, but with references of every kind.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "stoker/base/bytes.h"

namespace stoker {

inline std::vector<std::uint8_t> lzf_compressed(Bytes bytes) {
  constexpr std::size_t kRunMax = 32, kDistanceMax = 8192, kLengthMax = 264;
  std::vector<std::uint8_t> out;
  std::map<std::uint32_t, std::size_t> seen;  // three bytes: where they were last
  std::size_t run = 0;                        // bytes before `at` that are not written yet
  const auto write_run = [&](std::size_t end) {
    for (std::size_t begin = end - run; begin < end;) {
      const std::size_t count = std::min(kRunMax, end - begin);
      out.push_back(static_cast<std::uint8_t>(count - 1));
      for (const std::size_t stop = begin + count; begin < stop; ++begin) out.push_back(bytes[begin]);
    }
    run = 0;
  };
  for (std::size_t at = 0; at < bytes.size();) {
    std::size_t length = 0, distance = 0;
    if (bytes.size() - at >= 3) {
      const std::uint32_t three = bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16;
      const auto before = seen.find(three);
      if (before != seen.end() && at - before->second <= kDistanceMax) {
        distance = at - before->second;
        while (length < kLengthMax && at + length < bytes.size() &&
               bytes[at + length] == bytes[at + length - distance]) {
          ++length;
        }
      }
      seen[three] = at;
    }
    if (length < 3) {
      ++run;
      ++at;
      continue;
    }
    write_run(at);
    const std::size_t told = length - 2, high = (distance - 1) >> 8;
    out.push_back(static_cast<std::uint8_t>(std::min<std::size_t>(told, 7) << 5 | high));
    if (told >= 7) out.push_back(static_cast<std::uint8_t>(told - 7));
    out.push_back(static_cast<std::uint8_t>((distance - 1) & 255));
    at += length;
  }
  write_run(bytes.size());
  return out;
}

}  // namespace stoker
