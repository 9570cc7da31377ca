// Bytes through affine maps in float32, then the cast: the SIMD twin of f16_from_f32 and its like in tensor/dtype.h.
#if defined(STOKER_OPS_KERNELS_CONVERT_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_OPS_KERNELS_CONVERT_ROW_INL_H_
#undef STOKER_OPS_KERNELS_CONVERT_ROW_INL_H_
#else
#define STOKER_OPS_KERNELS_CONVERT_ROW_INL_H_
#endif

#include <hwy/highway.h>

#include <cstring>

#include "stoker/ops/kernels/row_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using Floats = hn::Vec<FloatTag>;
using BitsTag = hn::RebindToUnsigned<FloatTag>;
using SignedTag = hn::RebindToSigned<FloatTag>;

struct StoreF32 {
  using Element = float;
  static HWY_INLINE void store(Floats value, float* out) { hn::StoreU(value, FloatTag(), out); }
};

struct StoreBF16 {
  using Element = std::uint16_t;
  static HWY_INLINE void store(Floats value, std::uint16_t* out) {
    const BitsTag d;
    const auto bits = hn::BitCast(d, value);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1));
    const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(hn::Set(d, 0x7FFF), odd)));
    const auto quiet = hn::Or(hn::ShiftRight<16>(bits), hn::Set(d, 0x40));
    const auto result = hn::IfThenElse(hn::RebindMask(d, hn::IsNaN(value)), quiet, rounded);
    const hn::Rebind<std::uint16_t, SignedTag> d16;
    hn::StoreU(hn::DemoteTo(d16, hn::BitCast(SignedTag(), result)), d16, out);
  }
};

struct StoreF16 {
  using Element = std::uint16_t;
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  static HWY_INLINE void store(Floats value, std::uint16_t* out) {
    const hn::Rebind<hwy::float16_t, FloatTag> d16;
    hn::StoreU(hn::DemoteTo(d16, value), d16, reinterpret_cast<hwy::float16_t*>(out));
  }
#else
  static HWY_INLINE void store(Floats value, std::uint16_t* out) {
    const BitsTag d;
    const SignedTag di;
    const auto bits = hn::BitCast(d, value);
    const auto magnitude = hn::And(bits, hn::Set(d, 0x7FFFFFFF));
    const auto compared = hn::BitCast(di, magnitude);  // no sign bit: signed comparison is right, and native
    // Below 2^-14: adding 2^23 to the number of units of 2^-24 leaves their rounded count in the low bits.
    const auto units = hn::Mul(hn::BitCast(FloatTag(), magnitude), hn::Set(FloatTag(), 0x1p24f));
    const auto subnormal = hn::And(hn::BitCast(d, hn::Add(units, hn::Set(FloatTag(), 0x1p23f))), hn::Set(d, 0x7FFFFF));
    const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(d, 1));
    const auto normal =
        hn::ShiftRight<13>(hn::Add(hn::Sub(magnitude, hn::Set(d, 0x38000000)), hn::Add(hn::Set(d, 0xFFF), odd)));
    const auto quiet = hn::Or(hn::Set(d, 0x7E00), hn::And(hn::ShiftRight<13>(magnitude), hn::Set(d, 0x3FF)));
    auto half = hn::IfThenElse(hn::RebindMask(d, hn::Lt(compared, hn::Set(di, 0x38800000))), subnormal, normal);
    half = hn::IfThenElse(hn::RebindMask(d, hn::Gt(compared, hn::Set(di, 0x477FFFFF))), hn::Set(d, 0x7C00), half);
    half = hn::IfThenElse(hn::RebindMask(d, hn::Gt(compared, hn::Set(di, 0x7F800000))), quiet, half);
    half = hn::Or(half, hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 0x8000)));
    const hn::Rebind<std::uint16_t, SignedTag> d16;
    hn::StoreU(hn::DemoteTo(d16, hn::BitCast(di, half)), d16, out);
  }
#endif
};

struct StoreU8 {
  using Element = std::uint8_t;
  static HWY_INLINE void store(Floats value, std::uint8_t* out) {
    const FloatTag d;
    const auto positive = hn::IfThenElseZero(hn::Gt(value, hn::Zero(d)), value);  // NaN to 0
    const auto clamped = hn::Min(positive, hn::Set(d, 255.0f));
    // Adding 2^23 leaves the nearest integer, ties to even, in the low bits.
    const auto bits = hn::BitCast(SignedTag(), hn::Add(clamped, hn::Set(d, 0x1p23f)));
    const hn::Rebind<std::uint8_t, SignedTag> d8;
    hn::StoreU(hn::DemoteTo(d8, hn::And(bits, hn::Set(SignedTag(), 0xFF))), d8, out);
  }
};

// No fused multiply-add: the product and the sum each round, as ARCHITECTURE.md says.
HWY_INLINE Floats mapped(const std::uint8_t* values, Floats scale, Floats bias) {
  const hn::Rebind<std::uint8_t, SignedTag> d8;
  const auto integers = hn::PromoteTo(SignedTag(), hn::LoadU(d8, values));
  return hn::Add(hn::Mul(hn::ConvertTo(FloatTag(), integers), scale), bias);
}

template <class Store>
HWY_INLINE void convert_as(const std::uint8_t* HWY_RESTRICT values, std::size_t count, const AffinePattern& pattern,
                           typename Store::Element* HWY_RESTRICT out) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  const auto scale0 = hn::LoadU(d, pattern.scale), bias0 = hn::LoadU(d, pattern.bias);
  const auto scale1 = hn::LoadU(d, pattern.scale + lanes), bias1 = hn::LoadU(d, pattern.bias + lanes);
  const auto scale2 = hn::LoadU(d, pattern.scale + 2 * lanes), bias2 = hn::LoadU(d, pattern.bias + 2 * lanes);
  std::size_t i = 0;
  for (; i + 3 * lanes <= count; i += 3 * lanes) {
    Store::store(mapped(values + i, scale0, bias0), out + i);
    Store::store(mapped(values + i + lanes, scale1, bias1), out + i + lanes);
    Store::store(mapped(values + i + 2 * lanes, scale2, bias2), out + i + 2 * lanes);
  }
  const auto at_phase = [&](const std::uint8_t* from, std::size_t phase) HWY_ATTR {
    return mapped(from, hn::LoadU(d, pattern.scale + phase), hn::LoadU(d, pattern.bias + phase));
  };
  for (; i + lanes <= count; i += lanes) Store::store(at_phase(values + i, i % 3), out + i);
  if (i == count) return;
  if (count >= lanes) {  // overlaps the vector before it
    i = count - lanes;
    Store::store(at_phase(values + i, i % 3), out + i);
    return;
  }
  std::uint8_t padded[hn::MaxLanes(FloatTag())] = {};
  typename Store::Element results[hn::MaxLanes(FloatTag())];
  std::memcpy(padded, values, count);
  Store::store(at_phase(padded, 0), results);
  std::memcpy(out, results, count * sizeof(results[0]));
}

void convert_row(const std::uint8_t* values, std::size_t count, const AffinePattern& pattern, DType dtype,
                 std::uint8_t* out) {
  switch (dtype) {
    case DType::kF32: return convert_as<StoreF32>(values, count, pattern, reinterpret_cast<float*>(out));
    case DType::kF16: return convert_as<StoreF16>(values, count, pattern, reinterpret_cast<std::uint16_t*>(out));
    case DType::kBF16: return convert_as<StoreBF16>(values, count, pattern, reinterpret_cast<std::uint16_t*>(out));
    case DType::kU8: return convert_as<StoreU8>(values, count, pattern, out);
    case DType::kI64: return;  // no image is stored so; convert_pixels refuses it
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
