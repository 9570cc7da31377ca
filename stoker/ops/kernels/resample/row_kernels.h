// The SIMD code of the geometry and colour families, one row at a time, as a table of functions per instruction set.
// Plain C++ code above this calls them (resample.cc, convert.cc).
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/tensor/dtype.h"

namespace stoker {

struct NarrowTable;
struct WideTable;

/// 22-bit weights do not fit the 16-bit multipliers: weight = high * 2^kLowWeightBits + low, each times an 8-bit value
/// and summed by itself, then added up. All of it is arithmetic modulo 2^32, so that only the last sum (which Pillow
/// also holds in 32 bits) has to fit. 0 <= low < 2^11, and high fits 16 bits while |weight| < 2^26; Pillow's stay below
/// 2^23 (bicubic at an edge reaches 1.125 * 2^22).
constexpr int kLowWeightBits = 11;

constexpr std::int16_t high_weight(std::int32_t weight) { return static_cast<std::int16_t>(weight >> kLowWeightBits); }
constexpr std::int16_t low_weight(std::int32_t weight) {
  return static_cast<std::int16_t>(weight & ((1 << kLowWeightBits) - 1));
}

/// The halves of the weights of two neighbouring taps.
struct WeightPair {
  std::int16_t high[2], low[2];
};

/// Rows read and written by the resampling kernels have this many bytes of memory beyond their end.
constexpr std::size_t kRowSlack = 64;

/// One affine map per element, repeating every three: the channels of interleaved pixels, or one channel thrice.
struct AffinePattern {
  static constexpr std::size_t kLength = 64;
  alignas(64) float scale[kLength];
  alignas(64) float bias[kLength];
};

struct RowKernels {
  std::int64_t target;  // Highway's name of the instruction set
  int lanes;            // 32-bit lanes of a vector of the horizontal pass

  /// `count` interleaved pixels of three channels to three planes, and back. Nothing else is read or written.
  void (*deinterleave)(const std::uint8_t* pixels, std::size_t count, std::uint8_t* const* planes);
  void (*interleave)(const std::uint8_t* const* planes, std::size_t count, std::uint8_t* pixels);

  /// The horizontal pass over `channels` planes of one row that lie `stride` bytes apart, to planes `out_stride` apart.
  void (*narrow)(const NarrowTable& table, int channels, const std::uint8_t* row, std::size_t stride, std::uint8_t* out,
                 std::size_t out_stride);
  void (*wide)(const WideTable& table, int channels, const std::uint8_t* row, std::size_t stride, std::uint8_t* out,
               std::size_t out_stride);

  /// The vertical pass: `bytes` weighted sums over 2 * pairs rows.
  void (*vertical)(const std::uint8_t* const* rows, const WeightPair* weights, int pairs, std::size_t bytes,
                   std::uint8_t* out);

  /// values[i] * scale[i % 3] + bias[i % 3], cast. Nothing else is read or written.
  void (*convert)(const std::uint8_t* values, std::size_t count, const AffinePattern& pattern, DType dtype,
                  std::uint8_t* out);
};

/// Those of the active instruction set.
const RowKernels& row_kernels();

}  // namespace stoker
