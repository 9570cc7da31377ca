#include "stoker/order/permutation.h"

#include <bit>
#include <cassert>

#include "stoker/base/random.h"

namespace stoker {
namespace {

// Mixes all bits of a half with the round's key; the constants are those of the "lowbias32" integer hash (Wellons).
std::uint32_t mix(std::uint32_t x, std::uint32_t key) {
  x ^= key;
  x ^= x >> 16;
  x *= 0x7feb352d;
  x ^= x >> 15;
  x *= 0x846ca68b;
  x ^= x >> 16;
  return x;
}

/// What numbers below `size` need.
int bits_of(std::uint64_t size) { return static_cast<int>(std::bit_width(size - 1)); }

std::uint32_t mask_of(int bits) { return static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 1); }

Permutation::RoundKeys drawn_keys(std::uint64_t seed, std::uint64_t epoch) {
  Random random(seed, epoch, 0, random_stream("", "order", 0));
  Permutation::RoundKeys keys;
  for (std::uint32_t& key : keys) key = random.next_u32();
  return keys;
}

}  // namespace

Permutation::Permutation(std::uint64_t size, const RoundKeys& round_keys, int left_bits, int right_bits)
    : size_(size),
      right_bits_(right_bits),
      left_mask_(mask_of(left_bits)),
      right_mask_(mask_of(right_bits)),
      round_keys_(round_keys) {
  assert(size > 0 && size <= std::uint64_t{1} << 62);
}

Permutation::Permutation(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch)
    : Permutation(size, drawn_keys(seed, epoch), (bits_of(size) + 1) / 2, (bits_of(size) + 1) / 2) {}

Permutation::Permutation(std::uint64_t size, const RoundKeys& round_keys)
    : Permutation(size, round_keys, (bits_of(size) + 1) / 2, bits_of(size) / 2) {}

std::uint64_t Permutation::encrypt(std::uint64_t value) const {
  auto left = static_cast<std::uint32_t>(value >> right_bits_);
  auto right = static_cast<std::uint32_t>(value) & right_mask_;
  static_assert(kRounds % 2 == 0);
  for (std::size_t round = 0; round < kRounds; round += 2) {
    left ^= mix(right, round_keys_[round]) & left_mask_;
    right ^= mix(left, round_keys_[round + 1]) & right_mask_;
  }
  return std::uint64_t{left} << right_bits_ | right;
}

std::uint64_t Permutation::operator()(std::uint64_t i) const {
  assert(i < size_);
  // The network permutes a domain less than four times as large, so the walk back inside is short.
  do {
    i = encrypt(i);
  } while (i >= size_);
  return i;
}

}  // namespace stoker
