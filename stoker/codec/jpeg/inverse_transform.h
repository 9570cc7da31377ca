// libjpeg's accurate integer inverse DCT ("islow") of one block in plain C++: the same as inverse_transform-inl.h,
// without vectors; devices use its parts.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/base/host_device.h"

namespace stoker {

/// Constants times 2^13; intermediate results of the first pass carry 2 fractional bits.
struct InverseTransform {
  static constexpr int kConstantBits = 13, kFirstPassBits = 2;
  static constexpr int kFirstShift = kConstantBits - kFirstPassBits;
  static constexpr int kSecondShift = kConstantBits + kFirstPassBits + 3;

  /// 16-bit numbers wrap around, as in libjpeg's SIMD versions, and so do sums of 32 bits.
  STOKER_HOST_DEVICE static std::int16_t wrapped(std::int32_t value) { return static_cast<std::int16_t>(value); }
  STOKER_HOST_DEVICE static std::int16_t descaled(std::uint32_t sum, int shift) {
    const std::int32_t value = static_cast<std::int32_t>(sum) >> shift;
    return static_cast<std::int16_t>(clamped(value, -32768, 32767));
  }

  STOKER_HOST_DEVICE static int clamped(int value, int low, int high) {
    return value < low ? low : value > high ? high : value;
  }

  /// Eight numbers that lie `step` apart, in place.
  STOKER_HOST_DEVICE static void pass(std::int16_t* v, std::ptrdiff_t step, int shift) {
    const auto at = [&](int i) { return v[i * step]; };
    const auto rotated = [](std::int16_t a, int first, std::int16_t b, int second) {
      return static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(first) +
             static_cast<std::uint32_t>(b) * static_cast<std::uint32_t>(second);
    };
    const std::uint32_t half = 1U << (shift - 1);
    const auto scaled = [&](std::int16_t a) { return (static_cast<std::uint32_t>(a) << kConstantBits) + half; };

    const std::uint32_t even2 = rotated(at(2), 4433, at(6), 4433 - 15137);
    const std::uint32_t even3 = rotated(at(2), 4433 + 6270, at(6), 4433);
    const std::uint32_t even0 = scaled(wrapped(at(0) + at(4))), even1 = scaled(wrapped(at(0) - at(4)));
    const std::uint32_t e[4] = {even0 + even3, even1 + even2, even1 - even2, even0 - even3};

    const std::int16_t sum37 = wrapped(at(7) + at(3)), sum15 = wrapped(at(5) + at(1));
    const std::uint32_t z3 = rotated(sum37, 9633 - 16069, sum15, 9633);
    const std::uint32_t z4 = rotated(sum37, 9633, sum15, 9633 - 3196);
    const std::uint32_t o[4] = {
        rotated(at(7), -7373, at(1), 12299 - 7373) + z4, rotated(at(5), -20995, at(3), 25172 - 20995) + z3,
        rotated(at(5), 16819 - 20995, at(3), -20995) + z4, rotated(at(7), 2446 - 7373, at(1), -7373) + z3};
    for (int i = 0; i < 4; ++i) {
      v[i * step] = descaled(e[i] + o[i], shift);
      v[(7 - i) * step] = descaled(e[i] - o[i], shift);
    }
  }

  /// A column of a block, after dequantization, in place. `first_row_only`: the block has nothing in other rows:
  /// libjpeg takes a short cut then, which overflows elsewhere than the long way.
  STOKER_HOST_DEVICE static void column(std::int16_t* v, std::ptrdiff_t step, bool first_row_only) {
    if (!first_row_only) return pass(v, step, kFirstShift);
    const std::int16_t value = wrapped(v[0] * (1 << kFirstPassBits));
    for (int row = 0; row < 8; ++row) v[row * step] = value;
  }
  /// A row of it, once its columns are done: 8 samples. Leaves nothing of the row.
  STOKER_HOST_DEVICE static void row(std::int16_t* v, std::uint8_t* out) {
    pass(v, 1, kSecondShift);
    for (int i = 0; i < 8; ++i) out[i] = static_cast<std::uint8_t>(clamped(v[i], -128, 127) + 128);
  }

  /// `coefficients` are 8 rows, `row_step` apart. Writes 8 rows of 8 samples.
  STOKER_HOST_DEVICE static void block(const std::int16_t* coefficients, std::ptrdiff_t row_step,
                                       const std::int16_t* quantization, std::uint8_t* out, std::ptrdiff_t stride) {
    std::int16_t v[64];
    bool first_row_only = true;
    for (int i = 0; i < 64; ++i) {
      const std::int16_t coefficient = coefficients[i / 8 * row_step + i % 8];
      first_row_only = first_row_only && (i < 8 || coefficient == 0);
      v[i] = wrapped(coefficient * quantization[i]);
    }
    for (int i = 0; i < 8; ++i) column(v + i, 8, first_row_only);
    for (int i = 0; i < 8; ++i) row(v + 8 * i, out + i * stride);
  }
};

}  // namespace stoker
