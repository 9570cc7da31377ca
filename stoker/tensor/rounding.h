// Rounding from float32 to the narrower element types of tensors, and back: one definition for both sides.
#pragma once

#include <cstdint>
#include <cstring>

#include "stoker/base/host_device.h"
#include "stoker/tensor/dtype.h"

namespace stoker {

STOKER_HOST_DEVICE inline std::uint32_t bits_of_f32(float value) {
  std::uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

STOKER_HOST_DEVICE inline float f32_of_bits(std::uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

/// The integer nearest to a value of at least 0 and less than 2^22, ties to even.
STOKER_HOST_DEVICE inline std::uint32_t nearest_integer(float value) {
  return bits_of_f32(value + 0x1p23f) - bits_of_f32(0x1p23f);
}

/// Bits of the nearest bfloat16, ties to even.
STOKER_HOST_DEVICE inline std::uint16_t bf16_from_f32(float value) {
  const std::uint32_t bits = bits_of_f32(value);
  if (value != value) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

/// Bits of the nearest IEEE half, ties to even; overflow gives infinity.
STOKER_HOST_DEVICE inline std::uint16_t f16_from_f32(float value) {
#ifdef __CUDA_ARCH__
  if (value == value) {  // a GPU makes another NaN
    std::uint16_t half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
    return half;
  }
#endif
  const std::uint32_t bits = bits_of_f32(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const std::uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return static_cast<std::uint16_t>(sign | 0x7E00 | (magnitude >> 13 & 0x3FF));
  if (magnitude >= 0x47800000) return static_cast<std::uint16_t>(sign | 0x7C00);  // 2^16 and more, infinity
  if (magnitude < 0x38800000) {  // below 2^-14: a subnormal half counts units of 2^-24
    const float units = (value < 0 ? -value : value) * 0x1p24f;
    return static_cast<std::uint16_t>(sign | nearest_integer(units));
  }
  const std::uint32_t rounded = magnitude - 0x38000000 + 0xFFF + (magnitude >> 13 & 1);
  return static_cast<std::uint16_t>(sign | rounded >> 13);  // a carry into the exponent is right, up to infinity
}

/// The value of a bfloat16.
STOKER_HOST_DEVICE inline float f32_from_bf16(std::uint16_t bits) { return f32_of_bits(std::uint32_t{bits} << 16); }

/// The value of an IEEE half.
STOKER_HOST_DEVICE inline float f32_from_f16(std::uint16_t half) {
  const std::uint32_t sign = std::uint32_t{half & 0x8000U} << 16, magnitude = half & 0x7FFFU;
  if (magnitude >= 0x7C00) return f32_of_bits(sign | 0x7F800000 | (magnitude & 0x3FF) << 13);
  if (magnitude >= 0x400) return f32_of_bits(sign | ((magnitude << 13) + 0x38000000));
  const float units = static_cast<float>(magnitude) * 0x1p-24f;  // below 2^-14
  return f32_of_bits(sign | bits_of_f32(units));
}

/// Nearest integer, ties to even, clamped to 0..255; NaN gives 0.
STOKER_HOST_DEVICE inline std::uint8_t u8_from_f32(float value) {
  if (!(value > 0)) return 0;
  return value >= 255 ? 255 : static_cast<std::uint8_t>(nearest_integer(value));
}

/// Element number `index` of a tensor at `out`. Images have no other types than these four, and of another type nothing
/// is written: fill_elements() knows all.
STOKER_HOST_DEVICE inline void store_rounded(float value, DType dtype, std::uint8_t* out, std::int64_t index) {
  switch (dtype) {
    case DType::kF32: reinterpret_cast<float*>(out)[index] = value; return;
    case DType::kF16: reinterpret_cast<std::uint16_t*>(out)[index] = f16_from_f32(value); return;
    case DType::kBF16: reinterpret_cast<std::uint16_t*>(out)[index] = bf16_from_f32(value); return;
    case DType::kU8: out[index] = u8_from_f32(value); return;
    default: return;
  }
}

/// Four elements from number `index` on, where they begin at a multiple of their own bytes.
STOKER_HOST_DEVICE inline void store_four_rounded(const float* value, DType dtype, std::uint8_t* out,
                                                  std::int64_t index) {
  if (dtype == DType::kF32) {
    memcpy(__builtin_assume_aligned(out + 4 * index, 16), value, 16);
  } else if (dtype == DType::kU8) {
    alignas(4) std::uint8_t four[4];
    for (int i = 0; i < 4; ++i) four[i] = u8_from_f32(value[i]);
    memcpy(__builtin_assume_aligned(out + index, 4), four, 4);
  } else {
    alignas(8) std::uint16_t four[4];
    for (int i = 0; i < 4; ++i) four[i] = dtype == DType::kF16 ? f16_from_f32(value[i]) : bf16_from_f32(value[i]);
    memcpy(__builtin_assume_aligned(out + 2 * index, 8), four, 8);
  }
}

}  // namespace stoker
