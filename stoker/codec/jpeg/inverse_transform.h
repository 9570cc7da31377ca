// libjpeg's accurate integer inverse DCT ("islow") of one block in plain C++: the same as inverse_transform-inl.h,
// without vectors; devices use its parts. Also its reduced forms, which make 4 x 4, 2 x 2 or 1 sample of a block.
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

  /// The first numbers of eight that lie `step` apart become 4. The fifth has no part in it.
  STOKER_HOST_DEVICE static void pass_to_4(std::int16_t* v, std::ptrdiff_t step, int shift) {
    const auto times = [&](int i, int factor) {
      return static_cast<std::uint32_t>(v[i * step]) * static_cast<std::uint32_t>(factor);
    };
    const std::uint32_t even0 = times(0, 1 << (kConstantBits + 1)) + (1U << (shift - 1));
    const std::uint32_t even2 = times(2, 15137) + times(6, -6270);
    const std::uint32_t odd0 = times(1, 20995) + times(3, 7373) + times(5, -4926) + times(7, -4176);
    const std::uint32_t odd1 = times(1, 8697) + times(3, -17799) + times(5, 11893) + times(7, -1730);
    v[0] = descaled(even0 + even2 + odd0, shift);
    v[step] = descaled(even0 - even2 + odd1, shift);
    v[2 * step] = descaled(even0 - even2 - odd1, shift);
    v[3 * step] = descaled(even0 + even2 - odd0, shift);
  }
  /// What the odd ones of eight numbers, `step` apart, add to the first of two sums and take from the second.
  STOKER_HOST_DEVICE static std::uint32_t odd_of_2(const std::int16_t* v, std::ptrdiff_t step) {
    const auto times = [&](int i, int factor) {
      return static_cast<std::uint32_t>(v[i * step]) * static_cast<std::uint32_t>(factor);
    };
    return times(1, 29692) + times(3, -10426) + times(5, 6967) + times(7, -5906);
  }
  STOKER_HOST_DEVICE static std::int32_t shifted(std::uint32_t sum, int shift) {
    return static_cast<std::int32_t>(sum + (1U << (shift - 1))) >> shift;
  }

  /// A column of a block that becomes `side` numbers, after dequantization. Beside them may be what was there.
  /// `first_row_only` is that of column(), but for the fifth row, which has no part in it. `exact` are the two numbers
  /// that a first column becomes, of which 16 bits may not hold all, where `side` is 2.
  STOKER_HOST_DEVICE static void reduced_column(std::int16_t* v, std::ptrdiff_t step, int side, bool first_row_only,
                                                std::int32_t* exact) {
    if (side == 4) {
      if (!first_row_only) return pass_to_4(v, step, kFirstShift + 1);
      const std::int16_t value = wrapped(v[0] * (1 << kFirstPassBits));
      for (int row = 0; row < 4; ++row) v[row * step] = value;
    } else if (side == 2) {
      const std::uint32_t even = static_cast<std::uint32_t>(v[0]) << (kConstantBits + 2), odd = odd_of_2(v, step);
      const std::int32_t both[2] = {shifted(even + odd, kFirstShift + 2), shifted(even - odd, kFirstShift + 2)};
      for (int row = 0; row < 2; ++row) {
        v[row * step] = static_cast<std::int16_t>(clamped(both[row], -32768, 32767));
        if (exact) exact[row] = both[row];
      }
    }
  }
  /// A row of such columns: `side` samples. `exact` is that of the row.
  STOKER_HOST_DEVICE static void reduced_row(std::int16_t* v, int side, std::int32_t exact, std::uint8_t* out) {
    if (side == 1) {
      *out = only_sample(v[0]);
      return;
    }
    if (side == 4) {
      pass_to_4(v, 1, kSecondShift + 1);
    } else if (side == 2) {
      const std::uint32_t even = static_cast<std::uint32_t>(exact) << (kConstantBits + 2), odd = odd_of_2(v, 1);
      v[0] = static_cast<std::int16_t>(shifted(even + odd, kSecondShift + 2));
      v[1] = static_cast<std::int16_t>(shifted(even - odd, kSecondShift + 2));
    }
    for (int i = 0; i < side; ++i) out[i] = static_cast<std::uint8_t>(clamped(v[i], -128, 127) + 128);
  }
  /// The sample that stands for a block, of its first coefficient after dequantization: libjpeg keeps ten bits before
  /// it clamps.
  STOKER_HOST_DEVICE static std::uint8_t only_sample(std::int16_t first) {
    const int value = ((first + 4) >> 3) & 1023;
    return static_cast<std::uint8_t>(clamped(value < 512 ? value : value - 1024, -128, 127) + 128);
  }

  /// As block(), but of `side` rows of as many samples: 4, 2 or 1.
  STOKER_HOST_DEVICE static void reduced_block(const std::int16_t* coefficients, std::ptrdiff_t row_step,
                                               const std::int16_t* quantization, int side, std::uint8_t* out,
                                               std::ptrdiff_t stride) {
    std::int16_t v[64];
    bool first_row_only = true;
    for (int i = 0; i < 64; ++i) {
      const std::int16_t coefficient = coefficients[i / 8 * row_step + i % 8];
      first_row_only = first_row_only && (i < 8 || i / 8 == 4 || coefficient == 0);
      v[i] = wrapped(coefficient * quantization[i]);
    }
    std::int32_t exact[2] = {};
    for (int i = 0; i < 8; ++i) reduced_column(v + i, 8, side, first_row_only, i == 0 ? exact : nullptr);
    for (int i = 0; i < side; ++i) reduced_row(v + 8 * i, side, exact[i % 2], out + i * stride);
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
