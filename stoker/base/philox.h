// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"), for host and device.
#pragma once

#include <cstdint>

#include "stoker/base/host_device.h"

namespace stoker {

struct PhiloxBlock {
  std::uint32_t word[4];
};

struct Philox {
  static constexpr std::uint64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  static constexpr std::uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
  static constexpr int kRounds = 10;

  /// 128 random bits from a 128-bit counter and a 64-bit key, low words first.
  STOKER_HOST_DEVICE static PhiloxBlock block(PhiloxBlock counter, std::uint32_t key0, std::uint32_t key1) {
    for (int round = 0; round < kRounds; ++round, key0 += kWeyl0, key1 += kWeyl1) {
      const std::uint64_t product0 = kMultiplier0 * counter.word[0], product1 = kMultiplier1 * counter.word[2];
      counter = {
          {static_cast<std::uint32_t>(product1 >> 32) ^ counter.word[1] ^ key0, static_cast<std::uint32_t>(product1),
           static_cast<std::uint32_t>(product0 >> 32) ^ counter.word[3] ^ key1, static_cast<std::uint32_t>(product0)}};
    }
    return counter;
  }
};

}  // namespace stoker
