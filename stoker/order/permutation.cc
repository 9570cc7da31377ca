#include "stoker/order/permutation.h"

#include <algorithm>
#include <bit>
#include <cassert>

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

/// The bits that numbers below `size` need.
int bits_of(std::uint64_t size) { return static_cast<int>(std::bit_width(size - 1)); }

/// On fewer than 4 x 4 values a network makes some arrangements more often than others.
constexpr int kSideBitsMin = 2;

/// Random bits as a number below `range`.
std::uint32_t scaled(std::uint32_t random, std::uint32_t range) {
  return static_cast<std::uint32_t>(std::uint64_t{random} * range >> 32);
}

Permutation::RoundKeys drawn_keys(Random random) {
  Permutation::RoundKeys keys;
  for (std::uint32_t& key : keys) key = random.next_u32();
  return keys;
}

}  // namespace

Permutation::Permutation(std::uint64_t size, const RoundKeys& round_keys)
    : size_(size),
      right_bits_(std::max(bits_of(size) / 2, kSideBitsMin)),
      rows_(std::max(static_cast<std::uint32_t>((size - 1) >> right_bits_) + 1, 1U << kSideBitsMin)),
      right_mask_(static_cast<std::uint32_t>((std::uint64_t{1} << right_bits_) - 1)),
      round_keys_(round_keys) {
  assert(size > 0 && size <= std::uint64_t{1} << 62);
}

Permutation::Permutation(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch)
    : Permutation(size, Random(seed, epoch, 0, random_stream("", "order", 0))) {}

Permutation::Permutation(std::uint64_t size, Random random) : Permutation(size, drawn_keys(random)) {}

std::uint64_t Permutation::encrypt(std::uint64_t value) const {
  auto left = static_cast<std::uint32_t>(value >> right_bits_);
  auto right = static_cast<std::uint32_t>(value) & right_mask_;
  static_assert(kRounds % 2 == 0);
  for (std::size_t round = 0; round < kRounds; round += 2) {
    left += scaled(mix(right, round_keys_[round]), rows_);
    if (left >= rows_) left -= rows_;
    right ^= mix(left, round_keys_[round + 1]) & right_mask_;
  }
  return std::uint64_t{left} << right_bits_ | right;
}

std::uint64_t Permutation::operator()(std::uint64_t i) const {
  assert(i < size_);
  // Only the last row of many can reach beyond the size: nearly every value falls inside at once.
  do {
    i = encrypt(i);
  } while (i >= size_);
  return i;
}

}  // namespace stoker
