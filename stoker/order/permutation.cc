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

Permutation::RoundKeys drawn_keys(std::uint64_t seed, std::uint64_t epoch) {
  Random random(seed, epoch, 0, random_stream("", "order", 0));
  Permutation::RoundKeys keys;
  for (std::uint32_t& key : keys) key = random.next_u32();
  return keys;
}

}  // namespace

Permutation::Permutation(std::uint64_t size, const RoundKeys& round_keys) : size_(size), round_keys_(round_keys) {
  assert(size > 0 && size <= std::uint64_t{1} << 62);
  const auto bits = static_cast<int>(std::bit_width(size - 1));
  half_bits_ = (bits + 1) / 2;
  half_mask_ = static_cast<std::uint32_t>((std::uint64_t{1} << half_bits_) - 1);
}

Permutation::Permutation(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch)
    : Permutation(size, drawn_keys(seed, epoch)) {}

std::uint64_t Permutation::encrypt(std::uint64_t value) const {
  auto left = static_cast<std::uint32_t>(value >> half_bits_);
  auto right = static_cast<std::uint32_t>(value) & half_mask_;
  for (const std::uint32_t key : round_keys_) {
    const std::uint32_t next = left ^ (mix(right, key) & half_mask_);
    left = right;
    right = next;
  }
  return std::uint64_t{left} << half_bits_ | right;
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
