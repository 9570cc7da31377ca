// Two stretches of elements as float32, weighted, added up and cast.
#if defined(STOKER_OPS_KERNELS_BLEND_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_OPS_KERNELS_BLEND_INL_H_
#undef STOKER_OPS_KERNELS_BLEND_INL_H_
#else
#define STOKER_OPS_KERNELS_BLEND_INL_H_
#endif

#include <hwy/highway.h>

#include <cstring>

#include "stoker/ops/kernels/mix/blend_kernel.h"
#include "stoker/ops/kernels/resample/store-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct BlendF32 : StoreF32 {
  static HWY_INLINE Floats load(const float* from) { return hn::LoadU(FloatTag(), from); }
};

struct BlendBF16 : StoreBF16 {
  static HWY_INLINE Floats load(const std::uint16_t* from) {
    const BitsTag d;
    const hn::Rebind<std::uint16_t, BitsTag> d16;
    return hn::BitCast(FloatTag(), hn::ShiftLeft<16>(hn::PromoteTo(d, hn::LoadU(d16, from))));
  }
};

struct BlendF16 : StoreF16 {
  static HWY_INLINE Floats load(const std::uint16_t* from) {
#if HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
    const hn::Rebind<hwy::float16_t, FloatTag> d16;
    return hn::PromoteTo(FloatTag(), hn::LoadU(d16, reinterpret_cast<const hwy::float16_t*>(from)));
#else
    const BitsTag d;
    const SignedTag di;
    const hn::Rebind<std::uint16_t, BitsTag> d16;
    const auto bits = hn::PromoteTo(d, hn::LoadU(d16, from));
    const auto magnitude = hn::And(bits, hn::Set(d, 0x7FFF));
    const auto compared = hn::BitCast(di, magnitude);
    const auto shifted = hn::ShiftLeft<13>(magnitude);
    const auto normal = hn::Add(shifted, hn::Set(d, 0x38000000));
    // Infinities and NaNs have the largest exponent here, too.
    const auto special = hn::Or(shifted, hn::Set(d, 0x7F800000));
    const auto units = hn::Mul(hn::ConvertTo(FloatTag(), compared), hn::Set(FloatTag(), 0x1p-24f));
    auto result =
        hn::IfThenElse(hn::RebindMask(d, hn::Lt(compared, hn::Set(di, 0x400))), hn::BitCast(d, units), normal);
    result = hn::IfThenElse(hn::RebindMask(d, hn::Gt(compared, hn::Set(di, 0x7BFF))), special, result);
    const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(d, 0x8000)));
    return hn::BitCast(FloatTag(), hn::Or(result, sign));
#endif
  }
};

struct BlendU8 : StoreU8 {
  static HWY_INLINE Floats load(const std::uint8_t* from) {
    const hn::Rebind<std::uint8_t, SignedTag> d8;
    return hn::ConvertTo(FloatTag(), hn::PromoteTo(SignedTag(), hn::LoadU(d8, from)));
  }
};

template <class Type>
HWY_INLINE void blend_as(const BlendInputs& inputs, std::size_t count, std::uint8_t* HWY_RESTRICT bytes) {
  using Element = typename Type::Element;
  const auto* HWY_RESTRICT own = reinterpret_cast<const Element*>(inputs.own);
  const auto* HWY_RESTRICT other = reinterpret_cast<const Element*>(inputs.other);
  auto* HWY_RESTRICT out = reinterpret_cast<Element*>(bytes);
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  const auto own_weight = hn::Set(d, inputs.own_weight), other_weight = hn::Set(d, inputs.other_weight);
  // No fused multiply-add: the products and the sum each round.
  const auto blended = [&](const Element* a, const Element* b) HWY_ATTR {
    return hn::Add(hn::Mul(Type::load(a), own_weight), hn::Mul(Type::load(b), other_weight));
  };
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) Type::store(blended(own + i, other + i), out + i);
  if (i == count) return;
  Element rest[3][hn::MaxLanes(FloatTag())] = {};
  const std::size_t bytes_left = (count - i) * sizeof(Element);
  std::memcpy(rest[0], own + i, bytes_left);
  std::memcpy(rest[1], other + i, bytes_left);
  Type::store(blended(rest[0], rest[1]), rest[2]);
  std::memcpy(out + i, rest[2], bytes_left);
}

void blend_elements(const BlendInputs& inputs, std::size_t count, DType dtype, std::uint8_t* out) {
  switch (dtype) {
    case DType::kF32: return blend_as<BlendF32>(inputs, count, out);
    case DType::kF16: return blend_as<BlendF16>(inputs, count, out);
    case DType::kBF16: return blend_as<BlendBF16>(inputs, count, out);
    case DType::kU8: return blend_as<BlendU8>(inputs, count, out);
    default: return;  // no image is stored so
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#endif
