#include "stoker/base/random.h"

#include <fmt/format.h>

#include <cassert>

#include "stoker/base/hash.h"
#include "stoker/base/philox.h"

namespace stoker {
namespace {

std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }

// Folds words that name a sequence into Philox's 64-bit key.
template <std::size_t kWords>
std::array<std::uint32_t, 2> key_of(const std::array<std::uint64_t, kWords>& words) {
  std::array<std::uint8_t, 8 * kWords> name;
  for (std::size_t i = 0; i < name.size(); ++i) name[i] = static_cast<std::uint8_t>(words[i / 8] >> (8 * (i % 8)));
  const std::uint64_t key = hash64(Bytes(name));
  return {low(key), high(key)};
}

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  const PhiloxBlock block = Philox::block({{counter[0], counter[1], counter[2], counter[3]}}, key[0], key[1]);
  return {block.word[0], block.word[1], block.word[2], block.word[3]};
}

std::uint64_t random_stream(std::string_view draw_group, std::string_view name, int occurrence) {
  return hash64(fmt::format("{}/{}#{}", draw_group, name, occurrence));
}

Random::Random(std::uint64_t seed, std::uint64_t epoch, std::uint64_t position, std::uint64_t stream)
    : counter_{0, 0, low(position), high(position)}, key_(key_of<3>({seed, epoch, stream})) {}

Random Random::branch(std::uint64_t stream) const {
  Random random;
  random.counter_ = {0, 0, counter_[2], counter_[3]};
  random.key_ = key_of<2>({std::uint64_t{key_[1]} << 32 | key_[0], stream});
  return random;
}

std::uint32_t Random::next_u32() {
  if (used_ == 4) {
    block_ = philox4x32(counter_, key_);
    if (++counter_[0] == 0) ++counter_[1];
    used_ = 0;
  }
  return block_[static_cast<std::size_t>(used_++)];
}

std::uint64_t Random::next_u64() {
  const std::uint64_t first = next_u32();
  return first << 32 | next_u32();
}

double Random::uniform() { return static_cast<double>(next_u64() >> 11) * 0x1p-53; }

std::uint64_t Random::below(std::uint64_t count) {
  assert(count > 0);
  // Rejection keeps the numbers below the largest multiple of count: 2^64 mod count values at the bottom are dropped.
  const std::uint64_t dropped = (0 - count) % count;
  for (;;) {
    const std::uint64_t value = next_u64();
    if (value >= dropped) return value % count;
  }
}

}  // namespace stoker
