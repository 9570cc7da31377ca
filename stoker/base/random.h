// Counter-based random numbers: every draw is a pure function of (seed, epoch, position, stream, draw index), so that
// no thread, rank or resume point can change it. Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1,
// 2, 3").
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace stoker {

/// One block of Philox4x32-10: 128 random bits from a 128-bit counter and a 64-bit key.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

/// Names a stream of random numbers: the operator `name`, its `occurrence` within a view of the group `draw_group`.
std::uint64_t random_stream(std::string_view draw_group, std::string_view name, int occurrence);

class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t epoch, std::uint64_t position, std::uint64_t stream);

  /// Another sequence for the same position, named by this one's name and `stream`: the numbers that a part of an
  /// operator draws. How many this one has drawn changes nothing.
  Random branch(std::uint64_t stream) const;

  std::uint32_t next_u32();
  std::uint64_t next_u64();

  /// Uniform in [0, 1), a multiple of 2^-53.
  double uniform();
  /// Uniform in [low, high).
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Uniform over 0, 1, ..., count - 1, without bias; count must be positive.
  std::uint64_t below(std::uint64_t count);

 private:
  Random() = default;

  std::array<std::uint32_t, 4> counter_{};
  std::array<std::uint32_t, 2> key_{};
  std::array<std::uint32_t, 4> block_{};
  int used_ = 4;  // numbers of block_ already handed out
};

}  // namespace stoker
