// A keyed random permutation of 0 .. size-1 with random access and no memory: a Feistel network over enough rows of a
// power of two to hold all values, walked along its cycle until the value falls inside. Global shuffling needs no
// memory and no saved position.
#pragma once

#include <array>
#include <cstdint>

#include "stoker/base/random.h"

namespace stoker {

class Permutation {
 public:
  static constexpr int kRounds = 8;
  using RoundKeys = std::array<std::uint32_t, kRounds>;

  /// Of a whole epoch.
  Permutation(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch);
  /// From random bits.
  Permutation(std::uint64_t size, Random random);
  Permutation(std::uint64_t size, const RoundKeys& round_keys);

  /// The element at place i; i < size. Threads: any.
  std::uint64_t operator()(std::uint64_t i) const;
  std::int64_t at(std::int64_t i) const { return static_cast<std::int64_t>((*this)(static_cast<std::uint64_t>(i))); }
  std::uint64_t size() const { return size_; }

 private:
  std::uint64_t encrypt(std::uint64_t value) const;

  std::uint64_t size_;
  int right_bits_;  // of a row's length
  std::uint32_t rows_, right_mask_;
  RoundKeys round_keys_;
};

}  // namespace stoker
