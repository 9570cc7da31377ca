// A keyed random permutation of 0 .. size-1 with random access and no memory: a Feistel network over a power of two,
// walked along its cycle until the value falls inside. Global shuffling costs nothing to hold and nothing to
// resume.
#pragma once

#include <array>
#include <cstdint>

namespace stoker {

class Permutation {
 public:
  static constexpr int kRounds = 8;
  using RoundKeys = std::array<std::uint32_t, kRounds>;

  /// Of a whole epoch: over the next power of four.
  Permutation(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch);
  /// From random bits: over the next power of two, so that an element takes two passes of the network on average at
  /// most. Of 5 to 15 elements some arrangements come oftener than others.
  Permutation(std::uint64_t size, const RoundKeys& round_keys);

  /// The element at place i; i < size. Threads: any.
  std::uint64_t operator()(std::uint64_t i) const;
  std::uint64_t size() const { return size_; }

 private:
  Permutation(std::uint64_t size, const RoundKeys& round_keys, int left_bits, int right_bits);
  std::uint64_t encrypt(std::uint64_t value) const;

  std::uint64_t size_;
  int right_bits_;
  std::uint32_t left_mask_, right_mask_;
  RoundKeys round_keys_;
};

}  // namespace stoker
