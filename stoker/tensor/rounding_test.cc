#include "stoker/tensor/rounding.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "stoker/base/error.h"
#include "stoker/base/random.h"

namespace stoker {
namespace {

// What an IEEE format of `mantissa` stored bits with `exponent` bits stands for.
double decoded(std::uint16_t bits, int mantissa, int exponent) {
  const int e = bits >> mantissa & ((1 << exponent) - 1);
  const int m = bits & ((1 << mantissa) - 1);
  const int bias = (1 << (exponent - 1)) - 1;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (e == (1 << exponent) - 1) return m ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  if (e == 0) return sign * std::ldexp(m, 1 - bias - mantissa);
  return sign * std::ldexp((1 << mantissa) + m, e - bias - mantissa);
}

// The nearest of all values of the format to `value`, ties to even, found between its two neighbours.
template <typename Convert>
void expect_nearest(float value, int mantissa, int exponent, Convert convert) {
  const std::uint16_t bits = convert(value);
  const double got = decoded(bits, mantissa, exponent);
  if (std::isnan(value)) {
    EXPECT_TRUE(std::isnan(got));
    return;
  }
  if (std::isinf(got)) {  // only from half a step past the largest finite value on
    const double largest = std::ldexp(2 - std::ldexp(1, -mantissa), (1 << (exponent - 1)) - 1);
    const double step = std::ldexp(1, (1 << (exponent - 1)) - 1 - mantissa);
    EXPECT_GE(std::abs(static_cast<double>(value)), largest + step / 2) << value;
    return;
  }
  const double error = std::abs(got - static_cast<double>(value));
  for (const int delta : {-1, 1}) {
    const auto neighbour_bits = static_cast<std::uint16_t>(bits + delta);
    const double neighbour = decoded(neighbour_bits, mantissa, exponent);
    if (!std::isfinite(neighbour) || (neighbour_bits & 0x8000) != (bits & 0x8000)) continue;
    const double other = std::abs(neighbour - static_cast<double>(value));
    EXPECT_LE(error, other) << value;
    EXPECT_TRUE(error < other || (bits & 1) == 0) << value << " lies halfway and must go to even";
  }
}

TEST(DType, KnowsTheValueOfEveryHalfAndBfloat) {
  for (int i = 0; i < 0x10000; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const double half = decoded(bits, 10, 5), bfloat = decoded(bits, 7, 8);
    const float f16 = f32_from_f16(bits), bf16 = f32_from_bf16(bits);
    if (std::isnan(half)) {
      EXPECT_TRUE(std::isnan(f16)) << i;
    } else {
      EXPECT_EQ(f16, half) << i;
      EXPECT_EQ(std::signbit(f16), i >= 0x8000) << i;
      EXPECT_EQ(f16_from_f32(f16), bits);
    }
    if (std::isnan(bfloat)) {
      EXPECT_TRUE(std::isnan(bf16)) << i;
    } else {
      EXPECT_EQ(bf16, bfloat) << i;
      EXPECT_EQ(bf16_from_f32(bf16), bits);
    }
  }
}

TEST(DType, RoundsToTheNearestHalfAndBfloat) {
  Random random(4, 0, 0, 0);
  for (int i = 0; i < 300'000; ++i) {
    auto bits = random.next_u32();
    if (i % 3 == 0) bits &= 0xFFFFF000;                       // ties
    if (i % 5 == 0) bits = (bits & 0x87FFFFFF) | 0x38000000;  // around a half's range
    const auto value = std::bit_cast<float>(bits);
    expect_nearest(value, 10, 5, f16_from_f32);
    expect_nearest(value, 7, 8, bf16_from_f32);
    if (HasFailure()) return;
  }
  EXPECT_EQ(f16_from_f32(65504), 0x7BFF);
  EXPECT_EQ(f16_from_f32(65520), 0x7C00);
  EXPECT_EQ(f16_from_f32(-0.0F), 0x8000);
  EXPECT_EQ(f16_from_f32(0x1p-24F), 1);
  EXPECT_EQ(f16_from_f32(0x1p-25F), 0);
}

TEST(DType, RoundsToBytesHalfToEvenAndClamps) {
  EXPECT_EQ(u8_from_f32(0.5F), 0);
  EXPECT_EQ(u8_from_f32(1.5F), 2);
  EXPECT_EQ(u8_from_f32(254.5F), 254);
  EXPECT_EQ(u8_from_f32(254.51F), 255);
  EXPECT_EQ(u8_from_f32(-3), 0);
  EXPECT_EQ(u8_from_f32(1e9F), 255);
  EXPECT_EQ(u8_from_f32(std::nanf("")), 0);
}

TEST(DType, NamesRoundTrip) {
  for (const DType dtype : {DType::kU8, DType::kI64, DType::kF16, DType::kBF16, DType::kF32})
    EXPECT_EQ(parse_dtype(to_string(dtype)), dtype);
  EXPECT_EQ(size_of(DType::kI64), 8u);
  EXPECT_EQ(size_of(DType::kBF16), 2u);
  EXPECT_THROW(parse_dtype("float"), Error);
}

}  // namespace
}  // namespace stoker
